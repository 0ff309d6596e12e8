// The network as a graph: paths, trees, parts and flows.
#include "model.hpp"

#include <algorithm>
#include <iterator>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/betweenness_centrality.hpp>
#include <boost/graph/biconnected_components.hpp>
#include <boost/graph/connected_components.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <boost/graph/edmonds_karp_max_flow.hpp>
#include <boost/graph/graph_traits.hpp>
#include <boost/graph/kruskal_min_spanning_tree.hpp>
#include <boost/graph/visitors.hpp>
#include <boost/property_map/property_map.hpp>
#include <boost/range/iterator_range.hpp>

namespace network {

namespace {

struct Edge {
  double length;
  double capacity;
};

using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS, boost::no_property, Edge>;
using Vertex = boost::graph_traits<Graph>::vertex_descriptor;

Graph make_graph(const Network &network) {
  Graph g(network.stations.size());
  for (const Line &l : network.lines)
    boost::add_edge(static_cast<Vertex>(l.from), static_cast<Vertex>(l.to), Edge{l.length, l.capacity}, g);
  return g;
}

// Thrown by the visitor of a search that has found what it was for.
struct Found {
  Vertex at;
};

class NearestSource : public boost::default_dijkstra_visitor {
public:
  explicit NearestSource(const Network &n) : network_(n) {}
  template <class G> void examine_vertex(Vertex v, const G &) const {
    if (network_.stations[v].kind == "source")
      throw Found{v};
  }

private:
  const Network &network_;
};

} // namespace

void analyse_graph(const Network &network, Findings &findings) {
  Graph g = make_graph(network);
  std::size_t n = boost::num_vertices(g);

  std::vector<int> component(n);
  findings.numbers["parts"] = boost::connected_components(g, component.data());
  std::vector<Vertex> cuts;
  boost::articulation_points(g, std::back_inserter(cuts));
  findings.numbers["weak stations"] = static_cast<double>(cuts.size());

  std::vector<boost::graph_traits<Graph>::edge_descriptor> tree;
  boost::kruskal_minimum_spanning_tree(g, std::back_inserter(tree), boost::weight_map(boost::get(&Edge::length, g)));
  double length = 0;
  for (auto e : tree)
    length += g[e].length;
  findings.numbers["tree"] = length;

  // From some consumers to the source that is nearest.
  std::vector<double> distance(n);
  double nearest = 0;
  int unreached = 0;
  for (Vertex from = 0; from < n; from += 7) {
    try {
      boost::dijkstra_shortest_paths(g, from,
                                     boost::weight_map(boost::get(&Edge::length, g))
                                         .distance_map(boost::make_iterator_property_map(
                                             distance.begin(), boost::get(boost::vertex_index, g)))
                                         .visitor(NearestSource(network)));
      unreached++;
    } catch (const Found &f) {
      nearest += distance[f.at];
    }
  }
  findings.numbers["to the nearest source"] = nearest;
  findings.numbers["without a source"] = unreached;

  std::vector<double> centrality(n);
  boost::brandes_betweenness_centrality(
      g, boost::centrality_map(
             boost::make_iterator_property_map(centrality.begin(), boost::get(boost::vertex_index, g))));
  boost::relative_betweenness_centrality(
      g, boost::make_iterator_property_map(centrality.begin(), boost::get(boost::vertex_index, g)));
  auto most = std::max_element(centrality.begin(), centrality.end(),
                               [](double a, double b) { return a < b - 1e-9; });
  findings.numbers["betweenness"] = *most;
  findings.texts["centre"] = network.stations[static_cast<std::size_t>(most - centrality.begin())].name;
}

void analyse_flows(const Network &network, Findings &findings) {
  using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
  using Flow = boost::adjacency_list<
      boost::vecS, boost::vecS, boost::directedS, boost::no_property,
      boost::property<boost::edge_capacity_t, long,
                      boost::property<boost::edge_residual_capacity_t, long,
                                      boost::property<boost::edge_reverse_t, Traits::edge_descriptor>>>>;
  Flow g(network.stations.size() + 2);
  auto capacity = boost::get(boost::edge_capacity, g);
  auto reverse = boost::get(boost::edge_reverse, g);
  auto connect = [&](std::size_t a, std::size_t b, long there, long back) {
    auto e = boost::add_edge(a, b, g).first, r = boost::add_edge(b, a, g).first;
    capacity[e] = there;
    capacity[r] = back;
    reverse[e] = r;
    reverse[r] = e;
  };
  std::size_t source = network.stations.size(), sink = source + 1;
  for (const Line &l : network.lines)
    connect(static_cast<std::size_t>(l.from), static_cast<std::size_t>(l.to), static_cast<long>(l.capacity),
            static_cast<long>(l.capacity));
  for (const Station &s : network.stations) {
    std::size_t id = static_cast<std::size_t>(s.id);
    if (s.demand < 0)
      connect(source, id, static_cast<long>(-s.demand), 0);
    else if (s.demand > 0)
      connect(id, sink, static_cast<long>(s.demand * 10), 0);
  }
  findings.numbers["supply"] = static_cast<double>(boost::edmonds_karp_max_flow(g, source, sink));
  auto residual = boost::get(boost::edge_residual_capacity, g);
  long full = 0;
  for (auto e : boost::make_iterator_range(boost::edges(g)))
    full += capacity[e] > 0 && residual[e] == 0;
  findings.numbers["lines at capacity"] = static_cast<double>(full > 0);
}

} // namespace network
