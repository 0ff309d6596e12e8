// A supply network: stations, lines between them, and what can be wrong with
// its description.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace network {

struct Station {
  int id;
  std::string name;
  std::string kind; // source, junction or consumer
  double x, y;
  double demand; // negative: supply
};

struct Line {
  int from, to;
  double length;   // km
  double capacity; // MW
  std::string tariff; // a formula
};

struct Network {
  std::string name;
  std::vector<Station> stations;
  std::vector<Line> lines;
};

// Thrown for descriptions that make no sense; path is where in the document.
class DescriptionError : public std::runtime_error {
public:
  DescriptionError(std::string path, const std::string &what);
  const std::string &path() const { return path_; }

private:
  std::string path_;
};

// Thrown for formulas that cannot be read or evaluated.
class FormulaError : public std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

// A generator of numbers that are the same with every library.
class Random {
public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  int below(int n) { return static_cast<int>(next() % static_cast<std::uint64_t>(n)); }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

private:
  std::uint64_t state_;
};

// describe makes up the description of a network; damage, if positive, says
// what is to be wrong with it.
std::string describe(int width, int height, std::uint64_t seed, int damage = 0);
int damage_kinds();

// load reads a description. It throws DescriptionError; what the parser throws
// is nested in it.
Network load(const std::string &text);

// What became of a network.
struct Findings {
  std::map<std::string, double> numbers;
  std::map<std::string, std::string> texts;
};

void analyse_graph(const Network &network, Findings &findings);
void analyse_flows(const Network &network, Findings &findings);
void analyse_spectrum(const Network &network, Findings &findings);
void analyse_tariffs(const Network &network, Findings &findings);
void analyse_stations(const Network &network, Findings &findings);

// evaluate computes a formula of the variables.
double evaluate(const std::string &formula, const std::map<std::string, double> &variables);

// rounded is a number as it is reported: differences in the last digits, which
// compilers are free to make, do not show.
std::string rounded(double v);

nlohmann::json report(const Findings &findings);
// checksum is exact arithmetic on the text of a report.
std::string checksum(const std::string &text);

} // namespace network
