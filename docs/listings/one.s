# by LLVM 22.1.0
one:
        movq    (%rdi), %rax
        vmovsd  (%rax), %xmm0
        vmovsd  .LCPI0_1(%rip), %xmm1  # 6.7554e+15
        vmovsd  .LCPI0_2(%rip), %xmm2  # 0.63662
        vfmadd213sd     %xmm1, %xmm0, %xmm2
        vsubsd  %xmm1, %xmm2, %xmm1
        vmovsd  .LCPI0_3(%rip), %xmm3  # -1.5708
        vfmadd213sd     %xmm0, %xmm1, %xmm3
        vfmadd231sd     .LCPI0_4(%rip), %xmm1, %xmm3  # -6.12323e-17
        vfmadd231sd     .LCPI0_5(%rip), %xmm1, %xmm3  # 1.49738e-33
        vmulsd  %xmm3, %xmm3, %xmm4
        vmovsd  .LCPI0_6(%rip), %xmm1  # 0.00833333
        vfmadd213sd     .LCPI0_7(%rip), %xmm4, %xmm1  # -0.166667
        vmovsd  .LCPI0_8(%rip), %xmm6  # 2.75573e-06
        vfmadd213sd     .LCPI0_9(%rip), %xmm4, %xmm6  # -0.000198413
        vmovsd  .LCPI0_10(%rip), %xmm5  # 1.58969e-10
        vfmadd213sd     .LCPI0_11(%rip), %xmm4, %xmm5  # -2.50508e-08
        vmulsd  %xmm4, %xmm4, %xmm7
        vfmadd213sd     %xmm1, %xmm7, %xmm6
        vmulsd  %xmm7, %xmm7, %xmm1
        vfmadd231sd     %xmm5, %xmm1, %xmm6
        vmovsd  .LCPI0_12(%rip), %xmm5  # -0.00138889
        vfmadd213sd     .LCPI0_13(%rip), %xmm4, %xmm5  # 0.0416667
        vmovsd  .LCPI0_14(%rip), %xmm8  # -2.75573e-07
        vfmadd213sd     .LCPI0_15(%rip), %xmm4, %xmm8  # 2.48016e-05
        vmovsd  .LCPI0_16(%rip), %xmm9  # -1.13596e-11
        vfmadd213sd     .LCPI0_17(%rip), %xmm4, %xmm9  # 2.08757e-09
        vfmadd213sd     %xmm5, %xmm7, %xmm8
        vfmadd231sd     %xmm9, %xmm1, %xmm8
        vmulsd  %xmm4, %xmm3, %xmm1
        vmovsd  .LCPI0_18(%rip), %xmm5  # -0.5
        vfmadd213sd     .LCPI0_19(%rip), %xmm4, %xmm5  # 1
        vfmadd213sd     %xmm3, %xmm6, %xmm1
        vfmadd231sd     %xmm8, %xmm7, %xmm5
        vmovq   %xmm2, %rax
        movl    %eax, %ecx
        andl    $2, %ecx
        shlq    $62, %rcx
        vmovapd %xmm5, %xmm2
        testb   $1, %al
        jne     .LBB0_2
        vmovapd %xmm1, %xmm2
.LBB0_2:
        jne     .LBB0_4
        vmovapd %xmm5, %xmm1
.LBB0_4:
        xorl    %edx, %edx
        testb   %dl, %dl
        jne     .LBB0_7
        vandpd  .LCPI0_0(%rip), %xmm0, %xmm0
        vucomisd        .LCPI0_22(%rip), %xmm0  # 1e+09
        ja      .LBB0_7
        vmovq   %rcx, %xmm0
        vxorpd  %xmm0, %xmm2, %xmm0
        movq    16(%rdi), %rcx
        movq    24(%rdi), %rdx
        vmovsd  (%rcx), %xmm2
        movq    32(%rdi), %rcx
        incl    %eax
        andl    $2, %eax
        shlq    $62, %rax
        vmovq   %rax, %xmm3
        vxorpd  %xmm3, %xmm1, %xmm1
        vmulsd  16(%rdx), %xmm0, %xmm0
        vfmsub231sd     (%rdx), %xmm1, %xmm0
        vmulsd  .LCPI0_20(%rip), %xmm0, %xmm0  # 1.2
        vfmadd231sd     .LCPI0_21(%rip), %xmm2, %xmm0  # 0.96
        vmovsd  %xmm0, (%rcx)
        xorl    %eax, %eax
        retq
.LBB0_7:
        movl    $1, %eax
        retq
