package app;

class Zoo {                                   // 1
    interface Animal {
        int eat(int n);
    }

    static class Cat implements Animal {      // 75
        public int eat(int n) {
            return n;                         // 72
        }
    }

    static class Dog implements Animal {      // 25
        public int eat(int n) {
            return 2 * n;                     // 24
        }
    }

    int feed(int i) {
        Animal animal;
        if (i % 4 == 0) {                     // 100
            animal = new Dog();               // 25
        } else {
            animal = new Cat();               // 75
        }
        if (i >= 96) {                        // 100
            return 0;                         // 4
        }
        return animal.eat(i);                 // 96
    }
}
