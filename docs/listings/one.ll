declare double @llvm.fabs.f64(double)
declare double @llvm.fma.f64(double, double, double)
define i64 @one(ptr %arguments, ptr %context) {
entry:
  %r0 = getelementptr ptr, ptr %arguments, i64 0  ; q
  %r1 = load ptr, ptr %r0, align 8
  %r2 = getelementptr ptr, ptr %arguments, i64 1  ; qd
  %r3 = load ptr, ptr %r2, align 8
  %r4 = getelementptr ptr, ptr %arguments, i64 2  ; qdd
  %r5 = load ptr, ptr %r4, align 8
  %r6 = getelementptr ptr, ptr %arguments, i64 3  ; parameters
  %r7 = load ptr, ptr %r6, align 8
  %r8 = getelementptr ptr, ptr %arguments, i64 4  ; output
  %r9 = load ptr, ptr %r8, align 8
  %r10 = getelementptr double, ptr %r1, i64 0
  %r11 = load double, ptr %r10, align 8
  %r12 = getelementptr double, ptr %r5, i64 0
  %r13 = load double, ptr %r12, align 8
  %r14 = fmul contract double 0x3FEEB851EB851EB8, %r13  ; 0.96
  %r15 = getelementptr double, ptr %r7, i64 0
  %r16 = load double, ptr %r15, align 8
  %r17 = call double @llvm.fabs.f64(double %r11)
  %r18 = fcmp ogt double %r17, 0x41CDCD6500000000  ; 1e+09
  %r19 = or i1 false, %r18
  %r20 = call double @llvm.fma.f64(double %r11, double 0x3FE45F306DC9C883, double 0x4338000000000000)  ; 0.63662, 6.7554e+15
  %r21 = fsub double %r20, 0x4338000000000000  ; 6.7554e+15
  %r22 = call double @llvm.fma.f64(double %r21, double 0xBFF921FB54442D18, double %r11)  ; -1.5708
  %r23 = call double @llvm.fma.f64(double %r21, double 0xBC91A62633145C07, double %r22)  ; -6.12323e-17
  %r24 = call double @llvm.fma.f64(double %r21, double 0x391F1976B7ED900B, double %r23)  ; 1.49738e-33
  %r25 = fmul double %r24, %r24
  %r26 = call double @llvm.fma.f64(double 0x3F8111111110F8A6, double %r25, double 0xBFC5555555555549)  ; 0.00833333, -0.166667
  %r27 = call double @llvm.fma.f64(double 0x3EC71DE357B1FE7D, double %r25, double 0xBF2A01A019C161D5)  ; 2.75573e-06, -0.000198413
  %r28 = call double @llvm.fma.f64(double 0x3DE5D93A5ACFD57C, double %r25, double 0xBE5AE5E68A2B9CEB)  ; 1.58969e-10, -2.50508e-08
  %r29 = fmul double %r25, %r25
  %r30 = call double @llvm.fma.f64(double %r27, double %r29, double %r26)
  %r31 = fmul double %r29, %r29
  %r32 = call double @llvm.fma.f64(double %r28, double %r31, double %r30)
  %r33 = fmul double %r31, %r31
  %r34 = call double @llvm.fma.f64(double 0xBF56C16C16C15177, double %r25, double 0x3FA555555555554C)  ; -0.00138889, 0.0416667
  %r35 = call double @llvm.fma.f64(double 0xBE927E4F809C52AD, double %r25, double 0x3EFA01A019CB1590)  ; -2.75573e-07, 2.48016e-05
  %r36 = call double @llvm.fma.f64(double 0xBDA8FAE9BE8838D4, double %r25, double 0x3E21EE9EBDB4B1C4)  ; -1.13596e-11, 2.08757e-09
  %r37 = fmul double %r25, %r25
  %r38 = call double @llvm.fma.f64(double %r35, double %r37, double %r34)
  %r39 = fmul double %r37, %r37
  %r40 = call double @llvm.fma.f64(double %r36, double %r39, double %r38)
  %r41 = fmul double %r39, %r39
  %r42 = fmul double %r24, %r25
  %r43 = call double @llvm.fma.f64(double %r42, double %r32, double %r24)
  %r44 = fmul double %r25, %r25
  %r45 = call double @llvm.fma.f64(double %r25, double 0xBFE0000000000000, double 0x3FF0000000000000)  ; -0.5, 1
  %r46 = call double @llvm.fma.f64(double %r44, double %r40, double %r45)
  %r47 = bitcast double %r20 to i64
  %r48 = and i64 %r47, 1
  %r49 = icmp ne i64 %r48, 0
  %r50 = select i1 %r49, double %r46, double %r43
  %r51 = and i64 %r47, 2
  %r52 = shl i64 %r51, 62
  %r53 = bitcast double %r50 to i64
  %r54 = xor i64 %r53, %r52
  %r55 = bitcast i64 %r54 to double
  %r56 = select i1 %r49, double %r43, double %r46
  %r57 = add i64 %r47, 1
  %r58 = and i64 %r57, 2
  %r59 = shl i64 %r58, 62
  %r60 = bitcast double %r56 to i64
  %r61 = xor i64 %r60, %r59
  %r62 = bitcast i64 %r61 to double
  %r63 = fmul contract double %r16, %r62
  %r64 = getelementptr double, ptr %r7, i64 2
  %r65 = load double, ptr %r64, align 8
  %r66 = fmul contract double %r65, %r55
  %r67 = fsub contract double %r63, %r66
  %r68 = fmul contract double 0x3FF3333333333333, %r67  ; 1.2
  %r69 = fadd contract double %r14, %r68
  br i1 %r19, label %refused, label %within
within:
  %r72 = getelementptr double, ptr %r9, i64 0
  store double %r69, ptr %r72, align 8
  ret i64 0
refused:
  ret i64 1
}
