from subridge.figures.drawing.forecast import plot_advice as plot_advice
from subridge.figures.drawing.forecast import plot_forecast as plot_forecast
from subridge.figures.drawing.learning_curves import plot_curve as plot_curve
from subridge.figures.drawing.learning_curves import plot_simulated as plot_simulated
from subridge.figures.drawing.subsets import plot_demo as plot_demo
from subridge.figures.paper.registry import figure_ids as figure_ids
from subridge.figures.paper.reproduction import Reproduction as Reproduction
from subridge.figures.paper.reproduction import reproduce as reproduce
