/* The program of a wheel, whose library holds all of it but this. */
int gf_program(int argc, char **argv);

int main(int argc, char **argv)
{
    return gf_program(argc, argv);
}
