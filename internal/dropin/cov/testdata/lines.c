int	place(int x)
{
	int y = 0;	/* a tab */

	if (x) y++; else { y--;
	}
	while (y++ < 100000) if (y % 1000 == 0) continue; else y += 1;
	return y;}


int main(int argc, char **argv) { return place(argc) < 0 ? 1 : place(argc - 1) < 0; } int last(void) { return 3; }