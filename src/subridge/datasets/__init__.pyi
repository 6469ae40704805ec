from subridge.datasets.images.extraction import extract_folder as extract_folder
from subridge.datasets.images.sets import FeatureSet as FeatureSet
from subridge.datasets.images.sets import load_fashion_features as load_fashion_features
from subridge.datasets.images.sets import load_set as load_set
from subridge.datasets.images.sets import load_store as load_store
from subridge.datasets.tables.table import Table as Table
from subridge.datasets.tables.table import read_table as read_table
