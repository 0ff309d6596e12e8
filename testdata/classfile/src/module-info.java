module sample {
    exports sample;
}
