/* The program in a Python wheel: all of its code except this file is in the wheel's library. */
int gf_program(int argc, char **argv);

int main(int argc, char **argv)
{
    return gf_program(argc, argv);
}
