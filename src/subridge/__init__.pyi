"""The public names, each with its home. Type checkers and editors read this file; at run time ``lazy.py`` does."""

from subridge import datasets as datasets
from subridge import derivations as derivations
from subridge import figures as figures
from subridge import subsets as subsets
from subridge import theory as theory
from subridge.estimators.blocks import gather_moments as gather_moments
from subridge.estimators.classifier import RidgeEnsembleClassifier as RidgeEnsembleClassifier
from subridge.estimators.regressor import RidgeEnsembleRegressor as RidgeEnsembleRegressor
from subridge.forecasting.advise import Advice as Advice
from subridge.forecasting.advise import advise as advise
from subridge.forecasting.forecast import forecast as forecast
from subridge.forecasting.forecast import risk_matrix as risk_matrix
from subridge.forecasting.forecast import samples_needed as samples_needed
from subridge.model import aggregation as aggregation
from subridge.model import covariance as covariance
from subridge.model import errors as errors
from subridge.model.aggregation import Aggregation as Aggregation
from subridge.model.aggregation import member_weights as member_weights
from subridge.model.ensemble import Ensemble as Ensemble
from subridge.model.ensemble import Strategy as Strategy
from subridge.model.ensemble import SubsetPlan as SubsetPlan
from subridge.model.problem import EquicorrelatedProblem as EquicorrelatedProblem
from subridge.model.problem import Problem as Problem
from subridge.model.risk import Risk as Risk
from subridge.results.compare import compare as compare
from subridge.results.predictions import phase_diagram as phase_diagram
from subridge.ridge.moments import MomentBatches as MomentBatches
from subridge.ridge.reference import fit_members as fit_members
from subridge.ridge.reference import risk_of_weights as risk_of_weights
from subridge.simulation.run import Run as Run
from subridge.simulation.simulate import simulate as simulate
from subridge.simulation.simulate import simulate_classification as simulate_classification
from subridge.theory.precise import precise_risk as precise_risk
from subridge.theory.predict import order_parameters as order_parameters
from subridge.theory.predict import risk as risk
from subridge.theory.reduced import large_k_coefficient as large_k_coefficient
from subridge.theory.reduced import optimal_n_members as optimal_n_members
from subridge.theory.reduced import phase_boundary as phase_boundary
from subridge.theory.reduced import reduced_optimal_ridge as reduced_optimal_ridge
from subridge.theory.reduced import reduced_risk as reduced_risk
from subridge.theory.ridge_search import optimal_ridge as optimal_ridge
from subridge.theory.saddle_point import OrderParameters as OrderParameters

__version__: str
