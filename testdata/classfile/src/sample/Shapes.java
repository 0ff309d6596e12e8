package sample;

import java.util.List;
import java.util.function.IntSupplier;

/** What later versions of Java brought: records, sealed types, patterns. */
public sealed interface Shapes {
    record Circle(double radius, String... tags) implements Shapes {
        public Circle {
            if (radius < 0) {
                throw new IllegalArgumentException("radius");
            }
        }
    }

    record Square(long side) implements Shapes {}

    static double area(Shapes s) {
        return switch (s) {
            case Circle(double r, String[] tags) when tags.length > 0 -> r;
            case Circle c -> Math.PI * c.radius() * c.radius();
            case Square q -> q.side() * q.side();
        };
    }

    default IntSupplier later(int[][] grid, List<? super Circle> out) {
        return () -> grid.length
            + out.size();
    }
}
