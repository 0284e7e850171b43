from kafkawire.declared.comparison import (
    Difference as Difference,
    DifferingItem as DifferingItem,
    compare_states as compare_states,
)
from kafkawire.declared.documents.declared import Declared as Declared, PruneScope as PruneScope
from kafkawire.declared.documents.problems import Position as Position, Problem as Problem, Rule as Rule
from kafkawire.declared.documents.reading import read_documents as read_documents
from kafkawire.declared.documents.secret_references import (
    SecretReference as SecretReference,
    UnavailableSecretError as UnavailableSecretError,
)
from kafkawire.declared.documents.writing import write_documents as write_documents
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
