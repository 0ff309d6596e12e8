// The network as a matrix.
#include "model.hpp"

#include <eigen3/Eigen/Dense>
#include <eigen3/Eigen/Sparse>
#include <eigen3/Eigen/SparseCholesky>

namespace network {

namespace {

using Sparse = Eigen::SparseMatrix<double>;

// The Laplacian, with conductances that fall with the length, grounded a
// little so that it can be inverted.
Sparse laplacian(const Network &network, double ground) {
  auto n = static_cast<Eigen::Index>(network.stations.size());
  std::vector<Eigen::Triplet<double>> entries;
  for (const Line &l : network.lines) {
    double g = 1 / l.length;
    entries.emplace_back(l.from, l.from, g);
    entries.emplace_back(l.to, l.to, g);
    entries.emplace_back(l.from, l.to, -g);
    entries.emplace_back(l.to, l.from, -g);
  }
  for (Eigen::Index i = 0; i < n; i++)
    entries.emplace_back(static_cast<int>(i), static_cast<int>(i), ground);
  Sparse m(n, n);
  m.setFromTriplets(entries.begin(), entries.end());
  return m;
}

Eigen::VectorXd demands(const Network &network) {
  Eigen::VectorXd d(static_cast<Eigen::Index>(network.stations.size()));
  for (Eigen::Index i = 0; i < d.size(); i++)
    d[i] = -network.stations[static_cast<std::size_t>(i)].demand;
  d.array() -= d.mean();
  return d;
}

// The places of the stations, fitted by a polynomial surface of their
// potentials.
Eigen::VectorXd fit(const Network &network, const Eigen::VectorXd &potential) {
  Eigen::MatrixXd a(potential.size(), 6);
  for (Eigen::Index i = 0; i < potential.size(); i++) {
    const Station &s = network.stations[static_cast<std::size_t>(i)];
    double x = s.x / 10, y = s.y / 10;
    a.row(i) << 1, x, y, x * x, x * y, y * y;
  }
  return a.colPivHouseholderQr().solve(potential);
}

} // namespace

void analyse_spectrum(const Network &network, Findings &findings) {
  Sparse m = laplacian(network, 1e-3);
  Eigen::VectorXd d = demands(network);

  Eigen::SimplicialLDLT<Sparse> cholesky(m);
  if (cholesky.info() != Eigen::Success)
    throw std::runtime_error("the network cannot be solved");
  Eigen::VectorXd potential = cholesky.solve(d);
  Eigen::ConjugateGradient<Sparse, Eigen::Lower | Eigen::Upper> iterative(m);
  iterative.setTolerance(1e-12);
  Eigen::VectorXd again = iterative.solve(d);
  findings.numbers["potential"] = potential.maxCoeff() - potential.minCoeff();
  findings.numbers["solvers agree"] = (potential - again).norm() < 1e-6 * potential.norm();
  double loss = 0;
  for (const Line &l : network.lines) {
    double drop = potential[l.from] - potential[l.to];
    loss += drop * drop / l.length;
  }
  findings.numbers["loss"] = loss;

  Eigen::VectorXd surface = fit(network, potential);
  for (Eigen::Index i = 0; i < surface.size(); i++)
    findings.numbers["surface " + std::to_string(i)] = surface[i];

  // The spectrum of a part.
  Eigen::Index part = std::min<Eigen::Index>(m.rows(), 48);
  Eigen::MatrixXd dense = Eigen::MatrixXd(m).topLeftCorner(part, part);
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> spectrum(dense);
  findings.numbers["largest eigenvalue"] = spectrum.eigenvalues()[part - 1];
  findings.numbers["trace"] = spectrum.eigenvalues().sum();
  Eigen::JacobiSVD<Eigen::MatrixXd> svd(dense.leftCols(part / 2), Eigen::ComputeThinU | Eigen::ComputeThinV);
  findings.numbers["condition"] = svd.singularValues()[0] / svd.singularValues()[part / 2 - 1];
  findings.numbers["log determinant"] = dense.partialPivLu().matrixLU().diagonal().array().abs().log().sum();
  Eigen::Matrix3d corner = dense.topLeftCorner<3, 3>();
  findings.numbers["corner"] = (corner.inverse() * Eigen::Vector3d::Ones()).squaredNorm();
}

} // namespace network
