package app;

/** What ran how often is behind each line, where that can be said. */
public class Main {
    public static void main(String[] args) {
        Zoo zoo = new Zoo();                  // 1
        int eaten = 0;                        // 1
        for (int i = 0; i < 100; i++) {       // 101
            eaten += zoo.feed(i);             // 100
        }
        report(eaten);                        // 1
    }

    static void report(int eaten) {
        if (eaten < 0) {                      // 1
            fail();                           // 0
        }
        System.out.println(eaten);            // 1
    }

    static void fail() {
        throw new IllegalStateException();    // 0
    }
}
