// Descriptions of supply networks are made up, loaded and analysed.
//
//   network [--quick | --brief]
//
// Some seconds long or, with --brief and --quick, a third and some hundredths of
// one. Prints a checksum of all findings.
#include "model.hpp"

#include <cstring>
#include <exception>
#include <iostream>

#include <nlohmann/json.hpp>

namespace {

// reason is what an exception says, with what is nested in it.
std::string reason(const std::exception &e) {
  std::string text = e.what();
  try {
    std::rethrow_if_nested(e);
  } catch (const std::exception &inner) {
    text += " <- " + reason(inner);
  }
  return text;
}

nlohmann::json analyse(const std::string &description) {
  try {
    network::Network n = network::load(description);
    network::Findings f;
    network::analyse_stations(n, f);
    network::analyse_graph(n, f);
    network::analyse_flows(n, f);
    network::analyse_spectrum(n, f);
    network::analyse_tariffs(n, f);
    return network::report(f);
  } catch (const network::DescriptionError &e) {
    return {{"refused", reason(e)}, {"path", e.path()}};
  }
}

} // namespace

int main(int argc, char **argv) {
  bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  bool brief = argc > 1 && std::strcmp(argv[1], "--brief") == 0;
  int networks = quick ? 2 : brief ? 10 : 130, width = quick ? 8 : 22, rounds = quick ? 1 : brief ? 2 : 20;
  nlohmann::json all = nlohmann::json::array();
  for (int i = 0; i < networks; i++)
    all.push_back(analyse(network::describe(width, width - i % 3, static_cast<std::uint64_t>(i + 1))));
  int refused = 0;
  for (int round = 0; round < rounds; round++)
    for (int damage = 1; damage <= network::damage_kinds(); damage++) {
      all.push_back(analyse(network::describe(8, 8, static_cast<std::uint64_t>(100 * round + damage), damage)));
      refused += all.back().contains("refused");
    }
  std::string cut = network::describe(6, 6, 7);
  for (std::size_t size = 1; size < cut.size(); size = size * 3 + 1)
    all.push_back(analyse(cut.substr(0, size)));
  std::string text = all.dump(1);
  std::cout << all.size() << " networks, " << refused << " refused, checksum " << network::checksum(text) << "\n";
  return 0;
}
