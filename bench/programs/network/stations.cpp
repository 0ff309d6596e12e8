// Stations found by several keys at once.
#include "model.hpp"

#include <algorithm>
#include <cmath>

#include <boost/algorithm/string.hpp>
#include <boost/container/flat_map.hpp>
#include <boost/heap/fibonacci_heap.hpp>
#include <boost/icl/interval_map.hpp>
#include <boost/multi_index/composite_key.hpp>
#include <boost/multi_index/hashed_index.hpp>
#include <boost/multi_index/member.hpp>
#include <boost/multi_index/ordered_index.hpp>
#include <boost/multi_index_container.hpp>

namespace network {

namespace {

namespace mi = boost::multi_index;

struct by_id {};
struct by_name {};
struct by_kind {};

using Register = mi::multi_index_container<
    Station,
    mi::indexed_by<
        mi::ordered_unique<mi::tag<by_id>, mi::member<Station, int, &Station::id>>,
        mi::hashed_unique<mi::tag<by_name>, mi::member<Station, std::string, &Station::name>>,
        mi::ordered_non_unique<mi::tag<by_kind>,
                               mi::composite_key<Station, mi::member<Station, std::string, &Station::kind>,
                                                 mi::member<Station, double, &Station::demand>>>>>;

// A station and how far away it is; the nearest is on top of a heap.
struct Neighbour {
  double distance;
  int id;
  bool operator<(const Neighbour &other) const {
    return distance != other.distance ? distance > other.distance : id > other.id;
  }
};

double squared_distance(const Station &a, const Station &b) {
  return (a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y);
}

} // namespace

void analyse_stations(const Network &network, Findings &findings) {
  Register all(network.stations.begin(), network.stations.end());
  const auto &kinds = all.get<by_kind>();
  auto range = kinds.equal_range(boost::make_tuple(std::string("consumer")));
  double demand = 0;
  for (auto it = range.first; it != range.second; ++it)
    demand += it->demand;
  findings.numbers["demand"] = demand;
  findings.numbers["sources"] = static_cast<double>(kinds.count(boost::make_tuple(std::string("source"))));

  // Renaming moves stations in one index, closing them down in all.
  auto &ids = all.get<by_id>();
  int renamed = 0;
  for (auto it = ids.begin(); it != ids.end();) {
    if (it->id % 11 == 3) {
      renamed += ids.modify(it, [](Station &s) { s.name = boost::to_upper_copy(boost::replace_all_copy(s.name, "-", " ")); });
      ++it;
    } else if (it->id % 17 == 5) {
      it = ids.erase(it);
    } else {
      ++it;
    }
  }
  findings.numbers["renamed"] = renamed;
  const auto &names = all.get<by_name>();
  int found = 0;
  for (const Station &s : network.stations)
    found += names.find(s.name) != names.end();
  findings.numbers["found by name"] = found;

  // How much is wanted along the first axis: each station within its reach.
  boost::icl::interval_map<int, long> wanted;
  for (const Station &s : all) {
    int x = static_cast<int>(s.x * 10), reach = 1 + static_cast<int>(std::fabs(s.demand));
    wanted += std::make_pair(boost::icl::interval<int>::right_open(x - reach, x + reach), static_cast<long>(s.demand * 10));
  }
  long highest = 0;
  for (const auto &[interval, sum] : wanted)
    highest = std::max(highest, sum);
  findings.numbers["wanted at most"] = static_cast<double>(highest);
  findings.numbers["intervals"] = static_cast<double>(wanted.iterative_size());

  boost::container::flat_map<int, int> chosen;
  for (const Station &s : all) {
    if (s.id % 5)
      continue;
    boost::heap::fibonacci_heap<Neighbour> heap;
    for (const Station &other : all)
      if (other.id != s.id && std::fabs(other.x - s.x) < 3)
        heap.push({squared_distance(s, other), other.id});
    for (int i = 0; i < 3 && !heap.empty(); i++, heap.pop())
      chosen[heap.top().id]++;
  }
  double near = 0;
  for (auto [id, times] : chosen)
    near += static_cast<double>(id) * times;
  findings.numbers["near"] = near;
}

} // namespace network
