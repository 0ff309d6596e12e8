package sample;

/** What all versions of Java have. */
public abstract class Plain<T extends Comparable<T>> {
    static final long BIG = 1L << 40;
    static final double HALF = 0.5;
    private static int calls;

    static {
        calls = Integer.getInteger("calls", 7);
    }

    abstract T pick(T[] of, boolean last);

    native void away(byte b, char c, short s, float f);

    int grüße𠀀(String s) { // two characters of two bytes, one of four
        for (int i = 0; i < s.length(); i++) {
            try {
                calls += s.charAt(i);
            } finally {
                calls--;
            }
        }
        return calls;
    }

    class Inner extends Plain<String> {
        @Override
        String pick(String[] of, boolean last) {
            return last ? of[of.length - 1] : of[0];
        }
    }
}
