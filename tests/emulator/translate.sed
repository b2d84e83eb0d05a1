# CUDA C++ as C++: what g++ cannot read becomes calls of tests/emulator/include. Lines stay lines.

# kernel<<<grid, block>>>(arguments), perhaps over several lines, becomes kernel->*emulated::launch(grid, block)(arguments).
:launch
/<<</{
    />>>(/!{
        N
        b launch
    }
}
s/<<<\(.*\)>>>(/->*emulated::launch(__FILE__, __LINE__, \1)(/

# Arrays in shared memory: dynamic ones, then those of a known size, of which a line may declare two.
s/extern __shared__ \(__align__([0-9]*) \)\{0,1\}\(.*\) \([a-z_]*\)\[\];/\2 *const \3 = (\2 *)emulated::dynamic_shared();/
s/__shared__ \([a-z]*\) \([^,<;]*\), \([^,;]*\);/__shared__ \1 \2; __shared__ \1 \3;/
s/__shared__ \([^;]*\) \([a-z_]*\)\(\(\[[^;]*\]\)\{0,1\}\);/typedef \1 \2_shared\3; \2_shared \&\2 = emulated::shared<\2_shared>([] {});/g

# asm("text" : "=r"(a) : "r"(b)) becomes emulated::ptx([] {}, "text", emulated::out(a), emulated::in(b)).
s/\<asm\( volatile\)\{0,1\}(/emulated::ptx([] {}, /
s/ *:\{1,2\} *\("[=+]*[rlfdh]"(\)/, \1/g
s/ *:\{1,3\} *"memory"//
s/"[=+][rlfdh]"(/emulated::out(/g
s/"[rlfdh]"(/emulated::in(/g

# g++'s own headers write __attribute__((__noinline__)), so that it cannot be a macro.
s/__noinline__ *//

# The device is always there.
s,/dev/nvidiactl,/dev/null,
s,libcuda\.so\.1,libc.so.6,
