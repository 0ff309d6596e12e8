package asm

import "bytes"

// returning holds the functions that always return to their caller: functions of the C library with
// reserved names that neither call back, nor are cancellation points, nor wait for others; and functions
// of language runtimes that must not throw.
//
// It excludes functions that read or write files: they are cancellation points, and a program can define
// its own streams and conversions (fopencookie; register_printf_function, which affects snprintf, too).
// It also excludes checked functions such as __memcpy_chk, which may abort.
//
// Compilers assume the same of these names, except with -ffreestanding or -fno-builtin. With those
// options a program may define functions of these names; they must return.
var returning = Words(`
	memcpy memmove memset memcmp memchr memrchr memmem mempcpy memccpy bcmp bzero explicit_bzero rawmemchr
	strlen strnlen strcmp strncmp strcasecmp strncasecmp strchr strrchr strchrnul strstr strcasestr strcpy strncpy
	strcat strncat stpcpy stpncpy strspn strcspn strpbrk strcoll strxfrm strsep strtok strtok_r
	strverscmp strdup strndup
	wcslen wcsnlen wcscpy wcsncpy wcscat wcsncat wcscmp wcsncmp wcscasecmp wcsncasecmp wcschr wcsrchr wcsstr wcsspn wcscspn
	wcspbrk wmemcpy wmemmove wmemset wmemcmp wmemchr
	strtol strtoul strtoll strtoull strtoimax strtoumax strtod strtof strtold atoi atol atoll atof
	wcstol wcstoul wcstoll wcstoull wcstod wcstof wcstold
	__isoc23_strtol __isoc23_strtoul __isoc23_strtoll __isoc23_strtoull __isoc23_strtoimax __isoc23_strtoumax
	malloc calloc realloc reallocarray free aligned_alloc posix_memalign memalign malloc_usable_size
	abs labs llabs imaxabs div ldiv lldiv imaxdiv rand srand random srandom rand_r
	drand48 erand48 lrand48 nrand48 mrand48 jrand48 srand48 getenv secure_getenv
	isalnum isalpha isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper isxdigit
	tolower toupper iswalnum iswalpha iswblank iswcntrl iswdigit iswgraph iswlower iswprint iswpunct iswspace
	iswupper iswxdigit towlower towupper iswctype
	__errno_location __ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc __ctype_get_mb_cur_max __tls_get_addr
	acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor fma
	fmax fmin fmod frexp hypot ilogb ldexp lgamma lgamma_r llrint llround log log10 log1p log2 logb lrint lround modf nan
	nearbyint nextafter nexttoward pow remainder remquo rint round roundeven scalbln scalbn sin sincos sinh sqrt tan tanh
	tgamma trunc
	acosf acoshf asinf asinhf atanf atan2f atanhf cbrtf ceilf copysignf cosf coshf erff erfcf expf exp2f expm1f fabsf
	fdimf floorf fmaf fmaxf fminf fmodf frexpf hypotf ilogbf ldexpf lgammaf llrintf llroundf logf log10f log1pf log2f
	logbf lrintf lroundf modff nanf nearbyintf nextafterf powf remainderf remquof rintf roundf roundevenf scalblnf scalbnf
	sinf sincosf sinhf sqrtf tanf tanhf tgammaf truncf
	acosl asinl atanl atan2l ceill copysignl cosl expl exp2l fabsl floorl fmaxl fminl fmodl frexpl hypotl ldexpl llrintl
	llroundl logl log10l log1pl log2l lrintl lroundl modfl powl rintl roundl scalbnl sinl sqrtl tanl truncl
	__isnan __isnanf __isinf __isinff __finite __finitef __signbit __signbitf __fpclassify __fpclassifyf
	__divti3 __modti3 __udivti3 __umodti3 __multi3 __divmodti4 __udivmodti4 __powidf2 __powisf2 __muldc3 __mulsc3 __divdc3
	__divsc3 __floattidf __floattisf __floatuntidf __floatuntisf __fixdfti __fixsfti __fixunsdfti __fixunssfti
	__popcountdi2 __popcountsi2
	time clock clock_gettime gettimeofday difftime getpid getuid geteuid getgid getegid
	sigemptyset sigfillset sigaddset sigdelset sigismember pthread_self pthread_equal pthread_getspecific
	setjmp _setjmp __sigsetjmp
	__cxa_begin_catch __cxa_get_exception_ptr __cxa_free_exception __cxa_guard_release __cxa_guard_abort __dynamic_cast
	_ZSt18uncaught_exceptionv _ZSt19uncaught_exceptionsv
	_ZdlPv _ZdlPvm _ZdlPvSt11align_val_t _ZdlPvmSt11align_val_t
	_ZdaPv _ZdaPvm _ZdaPvSt11align_val_t _ZdaPvmSt11align_val_t
	_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base _ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base
	_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base _ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base
	_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_
	_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_
	_ZNSt8__detail15_List_node_base7_M_hookEPS0_ _ZNSt8__detail15_List_node_base9_M_unhookEv
	_ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_
	_ZNKSt8__detail20_Prime_rehash_policy11_M_next_bktEm _ZNKSt8__detail20_Prime_rehash_policy14_M_need_rehashEmmm
	_ZSt11_Hash_bytesPKvmm`)

// noreturn holds the functions that never return to their caller.
var noreturn = Words(`
	abort exit _exit _Exit quick_exit longjmp _longjmp siglongjmp __longjmp_chk pthread_exit
	__assert_fail __assert_rtn __assert __stack_chk_fail __chk_fail __fortify_fail
	_Unwind_Resume __cxa_throw __cxa_rethrow __cxa_bad_cast __cxa_bad_typeid __cxa_throw_bad_array_new_length
	__cxa_pure_virtual __clang_call_terminate _ZSt9terminatev
	_ZSt17__throw_bad_allocv _ZSt28__throw_bad_array_new_lengthv _ZSt16__throw_bad_castv _ZSt18__throw_bad_typeidv
	_ZSt19__throw_logic_errorPKc _ZSt20__throw_length_errorPKc _ZSt20__throw_out_of_rangePKc
	_ZSt24__throw_out_of_range_fmtPKcz _ZSt24__throw_invalid_argumentPKc _ZSt20__throw_domain_errorPKc
	_ZSt21__throw_runtime_errorPKc _ZSt19__throw_range_errorPKc _ZSt22__throw_overflow_errorPKc
	_ZSt20__throw_system_errori _ZSt25__throw_bad_function_callv`)

// callee is the function that is called.
type callee struct {
	// fn is the index of the function if the file defines it and no other
	// definition can replace it, else -1.
	fn   int32
	name string // linkage name if fn is -1
}

// resolve finds the function that the operand of a direct call or jump leads
// to; ok is false for indirect calls and jumps.
func (f *File) resolve(operand []byte) (c callee, ok bool) {
	name, plt := bytes.CutSuffix(operand, []byte("@PLT"))
	if end, whole := ScanSymbol(name, 0); !whole || end != len(name) {
		return callee{}, false
	}
	name = Unquote(name)
	if id := f.Labels.Find(name); id >= 0 {
		at := f.Labels.All[id].Stmt
		if fn := f.Stmts[at].Fn; fn >= 0 && f.Functions[fn].Label == at && f.binds(&f.Functions[fn], plt) {
			return callee{fn: fn}, true
		}
		return callee{fn: -1}, true
	}
	if f.Target.Format == MachO {
		name = bytes.TrimPrefix(name, []byte("_"))
	}
	return callee{fn: -1, name: string(name)}, true
}

// binds reports whether references to a function of the file always reach this
// definition, however the object is linked. Compilers rely on the same
// condition for inlining. On x86_64 they print the other references with @PLT.
func (f *File) binds(fn *Function, plt bool) bool {
	if fn.local {
		return true
	}
	return f.Target.Arch == X86_64 && !plt && !fn.weak
}

// call records a call in the block. Control may leave the block there unless the
// callee always returns. never is set if the callee never returns.
func (b *builder) call(blk *Block, operand []byte) (never bool) {
	c, ok := b.resolve(operand)
	switch {
	case ok && c.fn < 0 && returning[c.name]:
	case ok && c.fn < 0 && noreturn[c.name]:
		blk.leave()
		return true
	case b.assume:
		b.doubtful, b.callee = true, c
		if !ok {
			b.callee.fn = -1
		}
	case ok && c.fn >= 0:
		blk.calls = append(blk.calls, c.fn)
	default:
		blk.leave()
	}
	return false
}

// settleCall decides about a call in the current block that may not return. The assumption
// is that it does if another instruction of the block follows: behind a call that never
// returns compilers print the next block.
func (b *builder) settleCall(follows bool) {
	switch {
	case !b.doubtful:
		return
	case follows:
		b.fn.Assumed++
	case b.callee.fn >= 0:
		b.current().calls = append(b.current().calls, b.callee.fn)
	default:
		b.current().leave()
	}
	b.doubtful = false
}

// tailCall records a jump to a function or to an unknown target.
func (b *builder) tailCall(blk *Block, operand []byte) {
	c, ok := b.resolve(operand)
	switch {
	case ok && c.fn >= 0:
		blk.mayLeave = true
		blk.calls = append(blk.calls, c.fn)
	case ok && returning[c.name]:
		blk.mayLeave = true
	default:
		blk.leave()
	}
}

// ResolveCalls decides which functions of the file always return. A function does if it has no loop (a
// loop might not end) and every function that it calls returns.
func (f *File) ResolveCalls() {
	returns := make([]bool, len(f.Functions))
	candidates := make([]int32, 0, len(f.Functions))
	for i := range f.Functions {
		if f.Functions[i].returnsIfCalleesDo() {
			candidates = append(candidates, int32(i))
		}
	}
	// Functions that call each other stay undecided: they may not return.
	for changed := true; changed; {
		changed = false
		for n, i := range candidates {
			if i >= 0 && f.Functions[i].allReturn(returns) {
				returns[i], candidates[n] = true, -1
				changed = true
			}
		}
	}
	for i := range f.Functions {
		for b := range f.Functions[i].Blocks {
			blk := &f.Functions[i].Blocks[b]
			for _, callee := range blk.calls {
				if !returns[callee] {
					blk.leave()
				}
			}
		}
	}
}

// allReturn reports whether every function of the file that fn calls returns.
func (fn *Function) allReturn(returns []bool) bool {
	for b := range fn.Blocks {
		for _, callee := range fn.Blocks[b].calls {
			if !returns[callee] {
				return false
			}
		}
	}
	return true
}

// returnsIfCalleesDo reports whether the function always returns, provided that its calls return: all
// blocks only return, no block is a root, and the graph has no cycle.
func (fn *Function) returnsIfCalleesDo() bool {
	if len(fn.Blocks) == 0 || fn.Fragment || fn.HasMacro {
		return false
	}
	preds := make([]int32, len(fn.Blocks))
	for b := range fn.Blocks {
		if !fn.Blocks[b].onlyReturns || fn.Blocks[b].root {
			return false
		}
		for _, s := range fn.Blocks[b].Succs {
			preds[s]++
		}
	}
	// A topological order does not reach blocks on a cycle or behind one.
	var work []int32
	for b, n := range preds {
		if n == 0 {
			work = append(work, int32(b))
		}
	}
	done := 0
	for ; len(work) > 0; done++ {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		for _, s := range fn.Blocks[b].Succs {
			if preds[s]--; preds[s] == 0 {
				work = append(work, s)
			}
		}
	}
	return done == len(fn.Blocks)
}
