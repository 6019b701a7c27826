# by LLVM 22.1.0
rows:
        movq    (%rsi), %rax
        movq    16(%rsi), %rcx
        movq    24(%rsi), %rdx
        movq    32(%rsi), %rsi
        addq    $-4, %rdi
        xorl    %r10d, %r10d
        vbroadcastsd    .LCPI0_1(%rip), %ymm1
        vbroadcastsd    .LCPI0_3(%rip), %ymm3  # 6.7554e+15
        vbroadcastsd    .LCPI0_21(%rip), %ymm7  # -0.5
        vpbroadcastq    .LCPI0_22(%rip), %ymm8
        xorl    %r8d, %r8d
        vpcmpeqd        %ymm10, %ymm10, %ymm10
        vbroadcastsd    .LCPI0_23(%rip), %ymm9  # 1.2
.LBB0_1:
        movq    %r10, %r9
        vmovupd (%rax,%r10,8), %ymm14
        vandpd  %ymm1, %ymm14, %ymm12
        vbroadcastsd    .LCPI0_4(%rip), %ymm11  # 0.63662
        vfmadd213pd     %ymm3, %ymm14, %ymm11
        vsubpd  %ymm3, %ymm11, %ymm13
        vbroadcastsd    .LCPI0_5(%rip), %ymm0  # -1.5708
        vfmadd231pd     %ymm0, %ymm13, %ymm14
        vbroadcastsd    .LCPI0_6(%rip), %ymm0  # -6.12323e-17
        vfmadd231pd     %ymm0, %ymm13, %ymm14
        vbroadcastsd    .LCPI0_7(%rip), %ymm0  # 1.49738e-33
        vfmadd231pd     %ymm13, %ymm0, %ymm14
        vmulpd  %ymm14, %ymm14, %ymm13
        vbroadcastsd    .LCPI0_9(%rip), %ymm0  # 0.00833333
        vbroadcastsd    .LCPI0_8(%rip), %ymm2  # -0.166667
        vfmadd213pd     %ymm2, %ymm13, %ymm0
        vbroadcastsd    .LCPI0_11(%rip), %ymm15  # 2.75573e-06
        vbroadcastsd    .LCPI0_13(%rip), %ymm5  # 1.58969e-10
        vbroadcastsd    .LCPI0_10(%rip), %ymm2  # -0.000198413
        vfmadd213pd     %ymm2, %ymm13, %ymm15
        vbroadcastsd    .LCPI0_12(%rip), %ymm2  # -2.50508e-08
        vfmadd213pd     %ymm2, %ymm13, %ymm5
        vmulpd  %ymm13, %ymm13, %ymm2
        vfmadd213pd     %ymm0, %ymm2, %ymm15
        vmulpd  %ymm2, %ymm2, %ymm0
        vfmadd231pd     %ymm5, %ymm0, %ymm15
        vbroadcastsd    .LCPI0_15(%rip), %ymm5  # -0.00138889
        vbroadcastsd    .LCPI0_17(%rip), %ymm6  # -2.75573e-07
        vbroadcastsd    .LCPI0_14(%rip), %ymm4  # 0.0416667
        vfmadd213pd     %ymm4, %ymm13, %ymm5
        vbroadcastsd    .LCPI0_16(%rip), %ymm4  # 2.48016e-05
        vfmadd213pd     %ymm4, %ymm13, %ymm6
        vfmadd213pd     %ymm5, %ymm2, %ymm6
        vbroadcastsd    .LCPI0_19(%rip), %ymm5  # -1.13596e-11
        vbroadcastsd    .LCPI0_18(%rip), %ymm4  # 2.08757e-09
        vfmadd213pd     %ymm4, %ymm13, %ymm5
        vfmadd231pd     %ymm5, %ymm0, %ymm6
        vmulpd  %ymm13, %ymm14, %ymm0
        vfmadd213pd     %ymm14, %ymm15, %ymm0
        vbroadcastsd    .LCPI0_20(%rip), %ymm4  # 1
        vfmadd213pd     %ymm4, %ymm7, %ymm13
        vfmadd231pd     %ymm6, %ymm2, %ymm13
        vpsllq  $63, %ymm11, %ymm2
        vblendvpd       %ymm2, %ymm13, %ymm0, %ymm5
        vblendvpd       %ymm2, %ymm0, %ymm13, %ymm0
        vpand   %ymm8, %ymm11, %ymm2
        vpsllq  $62, %ymm2, %ymm2
        vxorpd  %ymm2, %ymm5, %ymm2
        vpsubq  %ymm10, %ymm11, %ymm5
        vpand   %ymm5, %ymm8, %ymm5
        vpsllq  $62, %ymm5, %ymm5
        vxorpd  %ymm5, %ymm0, %ymm0
        vbroadcastsd    16(%rdx), %ymm5
        vmulpd  %ymm2, %ymm5, %ymm2
        vbroadcastsd    (%rdx), %ymm5
        vfmsub231pd     %ymm0, %ymm5, %ymm2
        vbroadcastsd    .LCPI0_2(%rip), %ymm0  # 1e+09
        vcmpltpd        %ymm12, %ymm0, %ymm0
        vtestpd %ymm0, %ymm0
        vmulpd  %ymm2, %ymm9, %ymm0
        vbroadcastsd    .LCPI0_0(%rip), %ymm2  # 0.96
        vfmadd231pd     (%rcx,%r10,8), %ymm2, %ymm0
        vmovupd %ymm0, (%rsi,%r10,8)
        setne   %r11b
        addq    $4, %r10
        orb     %r11b, %r8b
        cmpq    %rdi, %r10
        cmovgq  %rdi, %r10
        cmpq    %rdi, %r9
        jl      .LBB0_1
        movzbl  %r8b, %eax
        andl    $1, %eax
        vzeroupper
        retq
