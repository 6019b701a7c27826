// Copyright 2026 The ros2_rnea authors
//
// Licensed under the Apache License, Version 2.0 (the "License");
// you may not use this file except in compliance with the License.
// You may obtain a copy of the License at
//
//     http://www.apache.org/licenses/LICENSE-2.0
//
// Unless required by applicable law or agreed to in writing, software
// distributed under the License is distributed on an "AS IS" BASIS,
// WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
// See the License for the specific language governing permissions and
// limitations under the License.

// Reads a URDF and writes Pinocchio's inverse dynamics of it as C, as the function generated().
// It is traced by CasADi (-DCASADI), or by CppADCodeGen.  Any argument stands for a floating base.
#ifdef CASADI
#include <pinocchio/autodiff/casadi.hpp>
#else
#include <pinocchio/codegen/cppadcg-algo.hpp>
#endif

#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/multibody.hpp>
#include <pinocchio/parsers/urdf.hpp>

#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

const char *const signature =
    "static void generated(const double *q, const double *qd, const double *qdd, double *out)";

#ifdef CASADI

void write(const pinocchio::Model &model) {
  using casadi::SX;
  using Vector = Eigen::Matrix<SX, Eigen::Dynamic, 1>;
  const pinocchio::ModelTpl<SX> symbolic = model.cast<SX>();
  pinocchio::DataTpl<SX> data(symbolic);
  const std::vector<SX> inputs = {
      SX::sym("q", model.nq), SX::sym("qd", model.nv), SX::sym("qdd", model.nv)};
  Vector q(model.nq), qd(model.nv), qdd(model.nv);
  pinocchio::casadi::copy(inputs[0], q);
  pinocchio::casadi::copy(inputs[1], qd);
  pinocchio::casadi::copy(inputs[2], qdd);
  SX tau(model.nv, 1);
  pinocchio::casadi::copy(pinocchio::rnea(symbolic, data, q, qd, qdd), tau);
  const casadi::Function function("rnea", inputs, {densify(tau)});
  casadi::CodeGenerator generator("generated");
  generator.add(function);
  std::cout << generator.dump() << signature << " {\n"
            << "  static double w[" << function.sz_w() << " + 1];\n"
            << "  const double *arg[" << function.sz_arg() << "] = {q, qd, qdd};\n"
            << "  double *res[" << function.sz_res() << "] = {out};\n"
            << "  rnea(arg, res, 0, w, 0);\n}\n";
}

#else

struct Trace : pinocchio::CodeGenRNEA<double> {
  using CodeGenRNEA::CodeGenRNEA;

  void write() {
    buildMap();
    CppAD::cg::CodeHandler<double> handler;
    CppAD::vector<CppAD::cg::CG<double>> inputs(static_cast<std::size_t>(getInputDimension()));
    handler.makeVariables(inputs);
    auto tau = ad_fun.Forward(0, inputs);
    CppAD::cg::LanguageC<double> language("double");
    CppAD::cg::LangCDefaultVariableNameGenerator<double> names("out", "q");  // qd and qdd follow q
    std::ostringstream code;
    handler.generateCode(code, language, tau, names);
    std::cout << "#include <math.h>\n" << signature << " {\n"
              << language.generateTemporaryVariableDeclaration() << code.str() << "}\n";
  }
};

void write(const pinocchio::Model &model) { Trace(model).write(); }

#endif

int main(int count, char **) {
  const std::string urdf{std::istreambuf_iterator<char>(std::cin), {}};
  pinocchio::Model model;
  if (count > 1)
    pinocchio::urdf::buildModelFromXML(urdf, pinocchio::JointModelFreeFlyer(), model);
  else
    pinocchio::urdf::buildModelFromXML(urdf, model);
  write(model);
}
