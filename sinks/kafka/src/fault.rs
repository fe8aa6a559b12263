//! What an error code of Kafka means for the event: the table in the [crate]'s documentation, as a function.

use std::time::Duration;

use posthaste_core::Fault;
use rdkafka::error::RDKafkaErrorCode as Code;

use crate::{UnknownTopic, receipts::Receipt};

/// How records are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Many in one request, for speed.
    Together,
    /// Each in a request of its own, to find out which one is to blame.
    Alone,
}

/// What a receipt means.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Verdict {
    Delivered,
    Failed(Fault),
    /// It shared a request with a record that was refused, or is that record. It is not there, for sure.
    Suspect,
    /// It never left the client.
    Unsent,
    /// It may be there or not.
    Unknown,
}

/// Judges a receipt of a record for this topic.
pub(crate) fn judge(receipt: Receipt, way: Way, topic: &str, unknown_topic: UnknownTopic) -> Verdict {
    let code = match receipt {
        Receipt::Acknowledged => return Verdict::Delivered,
        Receipt::Pending => return Verdict::Unknown,
        Receipt::Failed(code) => code,
    };
    match code {
        Code::PurgeQueue | Code::QueueFull | Code::Fatal => Verdict::Unsent,
        Code::PurgeInflight | Code::MessageTimedOut => Verdict::Unknown,
        _ if way == Way::Together && is_of_one_record(code) => Verdict::Suspect,
        _ => Verdict::Failed(fault(code, topic, unknown_topic)),
    }
}

/// Whether the broker refuses a whole request with this code because of one record in it.
fn is_of_one_record(code: Code) -> bool {
    matches!(
        code,
        Code::MessageSizeTooLarge
            | Code::MessageBatchTooLarge
            | Code::InvalidRecord
            | Code::InvalidDifferentRecord
            | Code::InvalidTimestamp
    )
}

/// The fault that a code names.
pub(crate) fn fault(code: Code, topic: &str, unknown_topic: UnknownTopic) -> Fault {
    match code {
        Code::MessageSizeTooLarge | Code::MessageBatchTooLarge => Fault::permanent(format!(
            "the event is larger than message_max_bytes or than what topic {topic:?} takes (max.message.bytes)"
        )),
        Code::InvalidRecord | Code::InvalidTimestamp => Fault::permanent(format!(
            "topic {topic:?} does not take the event ({code}); a compacted topic needs a key, for example"
        )),
        Code::TopicAuthorizationFailed => {
            Fault::permanent(format!("this user may not write to topic {topic:?}"))
        }
        Code::InvalidTopic => Fault::permanent(format!("{topic:?} is no name of a topic")),
        Code::UnknownTopicOrPartition | Code::UnknownTopic | Code::UnknownTopicId => {
            unknown(topic, unknown_topic)
        }
        Code::ThrottlingQuotaExceeded => {
            Fault::throttled(Duration::from_secs(1), format!("topic {topic:?}: {code}"))
        }
        Code::Authentication | Code::SaslAuthenticationFailed | Code::SSL => {
            Fault::unavailable(format!("{code}; look at the settings sasl and tls"))
        }
        Code::ClusterAuthorizationFailed => Fault::unavailable(format!(
            "{code}; this user needs the right to write idempotently to the cluster (IdempotentWrite)"
        )),
        _ if is_outage(code) => Fault::unavailable(format!("topic {topic:?}: {code}")),
        _ => Fault::transient(format!("topic {topic:?}: {code}")),
    }
}

fn unknown(topic: &str, setting: UnknownTopic) -> Fault {
    let text = format!("topic {topic:?} does not exist");
    match setting {
        UnknownTopic::Wait => Fault::unavailable(text),
        UnknownTopic::Dead => Fault::permanent(text),
    }
}

/// Whether the code says that the destination takes nothing, whatever is sent to it.
fn is_outage(code: Code) -> bool {
    matches!(
        code,
        Code::BrokerTransportFailure
            | Code::AllBrokersDown
            | Code::Resolve
            | Code::OperationTimedOut
            | Code::TimedOutQueue
            | Code::BrokerDestroy
            | Code::RequestTimedOut
            | Code::NetworkException
            | Code::BrokerNotAvailable
            | Code::ReplicaNotAvailable
            | Code::LeaderNotAvailable
            | Code::UnknownPartition
            | Code::NotLeaderForPartition
            | Code::NotEnoughReplicas
            | Code::NotEnoughReplicasAfterAppend
            | Code::KafkaStorageError
            | Code::UnsupportedCompressionType
            | Code::UnsupportedForMessageFormat
            | Code::UnsupportedVersion
            | Code::CoordinatorLoadInProgress
            | Code::CoordinatorNotAvailable
            | Code::NotCoordinator
            | Code::GaplessGuarantee
            | Code::OutOfOrderSequenceNumber
            | Code::UnknownProducerId
            | Code::InvalidProducerEpoch
            | Code::Inconsistent
    )
}

#[cfg(test)]
mod tests {
    use posthaste_core::FaultKind;

    use super::*;

    fn kind(code: Code, setting: UnknownTopic) -> FaultKind {
        fault(code, "t", setting).kind
    }

    #[test]
    fn each_code_has_its_kind() {
        let throttled = FaultKind::Throttled { retry_after: Duration::from_secs(1) };
        let cases = [
            (Code::MessageSizeTooLarge, FaultKind::Permanent),
            (Code::InvalidRecord, FaultKind::Permanent),
            (Code::TopicAuthorizationFailed, FaultKind::Permanent),
            (Code::InvalidTopic, FaultKind::Permanent),
            (Code::BrokerTransportFailure, FaultKind::Unavailable),
            (Code::AllBrokersDown, FaultKind::Unavailable),
            (Code::NotEnoughReplicas, FaultKind::Unavailable),
            (Code::NotLeaderForPartition, FaultKind::Unavailable),
            (Code::UnsupportedCompressionType, FaultKind::Unavailable),
            (Code::Authentication, FaultKind::Unavailable),
            (Code::ClusterAuthorizationFailed, FaultKind::Unavailable),
            (Code::ThrottlingQuotaExceeded, throttled),
            (Code::PolicyViolation, FaultKind::Transient),
        ];
        for (code, expected) in cases {
            assert_eq!(kind(code, UnknownTopic::Wait), expected, "{code:?}");
        }
    }

    #[test]
    fn an_unknown_topic_is_judged_by_the_setting() {
        for code in [Code::UnknownTopicOrPartition, Code::UnknownTopic] {
            assert_eq!(kind(code, UnknownTopic::Wait), FaultKind::Unavailable);
            assert_eq!(kind(code, UnknownTopic::Dead), FaultKind::Permanent);
        }
        // The topic is there, with fewer partitions than before.
        assert_eq!(kind(Code::UnknownPartition, UnknownTopic::Dead), FaultKind::Unavailable);
    }

    #[test]
    fn whoever_shared_a_refused_request_is_only_suspect() {
        let judge = |code, way| judge(Receipt::Failed(code), way, "t", UnknownTopic::Wait);

        for code in [Code::MessageSizeTooLarge, Code::InvalidRecord, Code::InvalidDifferentRecord] {
            assert_eq!(judge(code, Way::Together), Verdict::Suspect);
            assert!(matches!(judge(code, Way::Alone), Verdict::Failed(_)));
        }
    }

    #[test]
    fn only_an_acknowledgement_is_a_delivery() {
        let judge = |receipt| judge(receipt, Way::Together, "t", UnknownTopic::Wait);

        assert_eq!(judge(Receipt::Acknowledged), Verdict::Delivered);
        assert_eq!(judge(Receipt::Pending), Verdict::Unknown);
        assert_eq!(judge(Receipt::Failed(Code::PurgeInflight)), Verdict::Unknown);
        assert_eq!(judge(Receipt::Failed(Code::PurgeQueue)), Verdict::Unsent);
    }
}
