#include "model.hpp"

#include <array>
#include <cmath>

#include <boost/format.hpp>
#include <nlohmann/json.hpp>

namespace network {

using nlohmann::json;

std::uint64_t Random::next() {
  std::uint64_t x = state_ += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

namespace {

constexpr std::array<const char *, 6> formulas = {
    "length * 0.5 + 3",
    "max(length, 10) * (1 + capacity / 1000)",
    "length ^ 1.1 - min(capacity, 40) / 8",
    "if(capacity > 60, length * 2, length * 3 - 1)",
    "sqrt(length * capacity) + -2 * (length - 1)",
    "(length + capacity) / (1 + abs(length - 20))",
};

using Damage = void (*)(json &, Random &);

json &some(json &list, Random &random) { return list[static_cast<std::size_t>(random.below(static_cast<int>(list.size())))]; }

constexpr std::array<Damage, 9> damages = {
    [](json &d, Random &) { d.erase("stations"); },
    [](json &d, Random &) { d["lines"] = "none"; },
    [](json &d, Random &r) { some(d["stations"], r).erase("name"); },
    [](json &d, Random &r) { some(d["stations"], r)["demand"] = "much"; },
    [](json &d, Random &r) { some(d["stations"], r)["kind"] = "well"; },
    [](json &d, Random &r) { some(d["lines"], r)["to"] = 1'000'000; },
    [](json &d, Random &r) { some(d["lines"], r)["length"] = -1.5; },
    [](json &d, Random &r) { some(d["stations"], r)["id"] = 0; },
    [](json &d, Random &r) { some(d["lines"], r)["tariff"] = "length * (2 + "; },
};

json make_station(int id, int x, int y, Random &random) {
  int kind = random.below(10);
  json s;
  s["id"] = id;
  s["name"] = (boost::format("%1%-%2$03d") % (kind == 0 ? "Quelle" : kind < 4 ? "Knoten" : "Ort") % id).str();
  s["kind"] = kind == 0 || id == 0 ? "source" : kind < 4 ? "junction" : "consumer";
  s["at"] = {x + 0.25 * random.unit(), y + 0.25 * random.unit()};
  s["demand"] = s["kind"] == "source" ? -40.0 - random.below(40) : kind < 4 ? 0.0 : 1.0 + random.below(80) / 10.0;
  if (random.below(7) == 0)
    s["remarks"] = {{"since", 1950 + random.below(70)}, {"owners", {"Stadt \"A\"", "L\u00e4nder", nullptr}}};
  return s;
}

} // namespace

int damage_kinds() { return static_cast<int>(damages.size()); }

std::string describe(int width, int height, std::uint64_t seed, int damage) {
  Random random(seed);
  json d = {{"name", "net " + std::to_string(seed)}, {"stations", json::array()}, {"lines", json::array()}};
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++)
      d["stations"].push_back(make_station(y * width + x, x, y, random));
  auto connect = [&](int from, int to, double length) {
    double capacity = 20 + random.below(100);
    d["lines"].push_back({{"from", from},
                          {"to", to},
                          {"length", std::round(1000 * length) / 1000},
                          {"capacity", capacity},
                          {"tariff", formulas[static_cast<std::size_t>(random.below(formulas.size()))]}});
  };
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) {
      int id = y * width + x;
      if (x + 1 < width && random.below(12))
        connect(id, id + 1, 5 + 20 * random.unit());
      if (y + 1 < height && random.below(12))
        connect(id, id + width, 5 + 20 * random.unit());
      if (x + 1 < width && y + 1 < height && random.below(4) == 0)
        connect(id, id + width + 1, 10 + 25 * random.unit());
    }
  if (damage > 0)
    damages[static_cast<std::size_t>(damage - 1)](d, random);
  return d.dump(seed % 2 ? 2 : -1);
}

} // namespace network
