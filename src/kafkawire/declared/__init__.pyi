from kafkawire.declared.comparison import (
    Difference as Difference,
    DifferingItem as DifferingItem,
    compare_states as compare_states,
)
from kafkawire.declared.log_state import read_log_state as read_log_state
from kafkawire.declared.planned import Kind as Kind, ValueChange as ValueChange
from kafkawire.declared.reading import ReadCluster as ReadCluster, read_cluster as read_cluster
from kafkawire.declared.scope import ReadScope as ReadScope
from kafkawire.declared.selection import StateSelection as StateSelection
from kafkawire.declared.state import (
    ClusterState as ClusterState,
    CredentialState as CredentialState,
    TopicState as TopicState,
)
from kafkawire.declared.unread import Unread as Unread, without_unread as without_unread
from kafkawire.declared.wording import item_in_words as item_in_words
