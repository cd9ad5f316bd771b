/// \file
/// The layers that both halves of the captioner are built of. A layer is a struct of Variables and
/// is called like a function; an error inside names the caller's line as well.
#pragma once

#include <string>

#include <sinter/sinter.h>

#include "models/parameters.h"

namespace sinter::models {

/// What a forward pass needs to know beside its inputs.
struct Pass {
  bool training = false;           ///< dropout is on
  Generator* generator = nullptr;  ///< of dropout; null: the default one
};

/// dropout(x, p) while training, else x.
Tensor drop(const Tensor& x, double p, const Pass& pass, Where where);

/// How a checkpoint stores the matrix of a linear layer.
enum class WeightLayout {
  out_in,  ///< [out, in], as torch.nn.Linear
  in_out,  ///< [in, out], as GPT-2's Conv1D
};

/// x [..., in] -> [..., out].
struct Linear {
  Variable weight, bias;
  WeightLayout layout;

  Linear(Parameters& parameters, const std::string& name, std::int64_t in, std::int64_t out,
         WeightLayout layout, double deviation);

  /// `residual` [..., out] is added before the one rounding.
  Tensor operator()(const Tensor& x, const Tensor& residual = {},
                    Where where = Where::current()) const;
};

/// Over the last axis.
struct LayerNorm {
  Variable weight, bias;
  double epsilon;

  LayerNorm(Parameters& parameters, const std::string& name, std::int64_t width, double epsilon);
  Tensor operator()(const Tensor& x, Where where = Where::current()) const;
};

/// [batch, tokens, width] -> [batch, heads, tokens, width / heads].
Tensor split_heads(const Tensor& x, std::int64_t heads, Where where = Where::current());
/// The way back.
Tensor join_heads(const Tensor& x, Where where = Where::current());

}  // namespace sinter::models
