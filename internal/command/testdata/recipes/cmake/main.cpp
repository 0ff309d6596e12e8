#include <algorithm>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

static bool before(const std::string &a, const std::string &b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    std::cerr << "usage: app FILE\n";
    return 2;
  }
  std::ifstream in(argv[1]);
  std::vector<std::string> words;
  for (std::string word; in >> word;)
    words.push_back(word);
  std::sort(words.begin(), words.end(), before);
  for (const auto &word : words)
    std::cout << word << '\n';
}
