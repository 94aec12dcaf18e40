"""Estimators and Keras models, whose training loop is the library's: the target `mirrored` asks for these names."""

from __future__ import annotations

from converter.analysis.traits import Trait

_ESTIMATORS = (
    "estimator.*Estimator estimator.*Classifier estimator.*Regressor "
    "contrib.learn.*Estimator contrib.learn.*Classifier contrib.learn.*Regressor contrib.tpu.TPUEstimator"
)
_MODELS = (
    "keras.Sequential* keras.Model* keras.Input* keras.models.* keras.layers.* keras.applications.* keras.engine.*"
)

_OPTIMIZED = " ".join(
    f"{module}.{kind}{what}"
    for module in ("estimator", "contrib.learn")
    for kind in ("DNN", "Linear", "DNNLinearCombined")  # others boost trees, or count
    for what in ("Classifier", "Regressor", "Estimator")
)

TRAITS: dict[Trait, str] = {
    Trait.ESTIMATOR: _ESTIMATORS,
    Trait.TRAINS_ITSELF: (
        f"{_ESTIMATORS} {_MODELS} contrib.learn.SKCompat contrib.learn.Experiment keras.estimator.model_to_estimator"
    ),
    Trait.OWN_MODEL: "estimator.Estimator",
    Trait.OPTIMIZED_MODEL: _OPTIMIZED,
    # Canned estimators whose variables the strategy can mirror (TensorFlow 1.15.5); linear models cut theirs in parts.
    Trait.MIRRORED_MODEL: "estimator.DNNClassifier estimator.DNNRegressor",
    Trait.TAKES_NO_STRATEGY: "contrib.learn.* contrib.tpu.* estimator.tpu.*",
    Trait.RUN_CONFIG: "estimator.RunConfig contrib.learn.RunConfig",
    Trait.TRAINING_SPEC: "estimator.TrainSpec",
    Trait.EVALUATION_SPEC: "estimator.EvalSpec",
    Trait.NUMPY_INPUT: "estimator.inputs.numpy_input_fn",
    Trait.BUILDS_MODEL: _MODELS,
    Trait.READS_MODEL: "*.load_model",
    Trait.KERAS: "keras*",
    Trait.FITS_MODEL: "fit fit_generator train_on_batch",
    Trait.SETS_SESSION: "keras.backend.set_session keras.backend.tensorflow_backend.set_session",
    Trait.KERAS_INPUT: "Input InputLayer",
    Trait.STARTS_EAGERNESS: "enable_eager_execution enable_v2_behavior",
    Trait.KERAS_BATCH_NORM: "keras.*BatchNormalization keras.*SyncBatchNormalization",
    Trait.SPEC: "estimator.EstimatorSpec",
    Trait.SHOWS_DEVICES: "config.set_visible_devices config.experimental.set_visible_devices",
    Trait.TAPE: "GradientTape contrib.eager.GradientTape",
}
