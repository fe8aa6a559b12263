//! One suite for every log: what `docs/implementing-a-log.md` says, case by case.
//!
//! A driver implements [`Subject`] for a fresh log of its own, and one line runs every case as a test with its own
//! name:
//!
//! ```
//! use posthaste_core::memory::{MemoryLog, MemoryTransaction};
//! use posthaste_testkit::{ManualClock, conformance::{Damage, Subject}};
//! # use posthaste_core::{Admin, Event, Log, Published, Result};
//!
//! struct Fresh { clock: ManualClock, log: MemoryLog }
//!
//! impl Subject for Fresh {
//!     type Tx = MemoryTransaction;
//! #   fn clock(&self) -> &ManualClock { &self.clock }
//! #   fn log(&self) -> &dyn Log { &self.log }
//! #   fn admin(&self) -> &dyn Admin { &self.log }
//! #   async fn begin(&self) -> MemoryTransaction { self.log.begin().await }
//! #   async fn append(&self, tx: &mut MemoryTransaction, events: &[Event]) -> Result<Vec<Published>> { tx.append(events) }
//! #   async fn commit(&self, tx: MemoryTransaction) { tx.commit().await.expect("commit"); }
//! #   async fn rollback(&self, tx: MemoryTransaction) { tx.rollback().await; }
//! #   async fn damage(&self, _: Damage) {}
//!     // …
//! }
//!
//! async fn fresh() -> Fresh {
//!     let clock = ManualClock::default();
//!     Fresh { log: MemoryLog::new(8, clock.shared()), clock }
//! }
//!
//! posthaste_testkit::log_conformance!(fresh);
//! ```

#[doc(hidden)]
pub mod cases;

use std::future::Future;

use posthaste_core::{Admin, Event, Lane, Log, Position, Published, Result};

use crate::ManualClock;

/// A fresh, empty log under test, with at least 4 lanes, that goes by the suite's clock.
pub trait Subject: Send + Sync {
    /// The caller's transaction in which events are published.
    type Tx: Send;

    /// The clock by which the log goes.
    fn clock(&self) -> &ManualClock;

    /// The relay's side of the log.
    fn log(&self) -> &dyn Log;

    /// The operator's side of the log.
    fn admin(&self) -> &dyn Admin;

    /// Begins a transaction.
    fn begin(&self) -> impl Future<Output = Self::Tx> + Send;

    /// Publishes in a transaction, as the driver offers it to applications.
    fn append(
        &self,
        tx: &mut Self::Tx,
        events: &[Event],
    ) -> impl Future<Output = Result<Vec<Published>>> + Send;

    /// Commits a transaction.
    fn commit(&self, tx: Self::Tx) -> impl Future<Output = ()> + Send;

    /// Rolls a transaction back.
    fn rollback(&self, tx: Self::Tx) -> impl Future<Output = ()> + Send;

    /// Damages the tables, as somebody with plain SQL could.
    fn damage(&self, damage: Damage) -> impl Future<Output = ()> + Send;
}

/// What a case breaks on purpose.
#[derive(Clone, Debug)]
pub enum Damage {
    /// All lines of this lane are gone.
    LoseLines {
        /// The subscription.
        subscription: String,
        /// The lane.
        lane: Lane,
    },
    /// The headers of the event at this position are no JSON object of texts, such as `[1]`.
    GarbleHeaders(Position),
    /// The JSON payload of the event at this position is not JSON, such as `{`.
    GarblePayload(Position),
    /// A constraint or a trigger takes no dead letter from now on.
    RefuseDead,
}

/// Runs the whole suite: every case is a `#[tokio::test]` of its own, in a module for its subject. The argument names
/// an async function that makes a fresh [`Subject`](crate::conformance::Subject). The calling crate needs `tokio` with
/// `macros` and `rt`.
#[macro_export]
macro_rules! log_conformance {
    ($fresh:path) => {
        $crate::log_cases! { $fresh;
            publish {
                an_event_comes_back_as_it_was_published,
                text_is_kept_whatever_it_looks_like,
                takes_a_payload_of_zero_bytes,
                publishing_nothing_answers_nothing,
                a_rollback_leaves_nothing,
                nothing_is_seen_before_the_commit,
                events_of_one_transaction_keep_their_order,
                positions_grow_from_commit_to_commit,
                all_events_of_a_key_are_in_one_lane,
                a_duplicate_is_answered_with_the_first_event,
                a_duplicate_leaves_the_transaction_usable,
                a_duplicate_in_the_same_transaction_is_answered_with_the_first,
                an_idempotency_key_counts_for_its_topic,
                an_idempotency_key_is_free_again_after_a_rollback,
                numbers_of_an_aggregate_have_no_gaps_across_a_rollback,
                numbers_are_counted_for_each_aggregate,
                a_duplicate_draws_no_number,
                an_id_is_published_only_once,
                a_commit_rings_the_doorbell,
            }
            subscribe {
                begins_with_line_one_of_every_lane,
                begins_at_the_beginning,
                begins_now_behind_what_is_committed,
                begins_now_in_an_empty_log,
                finds_what_is_there,
                another_filter_makes_a_new_generation_and_keeps_the_cursors,
                another_order_makes_a_new_generation,
                what_is_the_relays_own_makes_no_new_generation,
                each_subscription_has_its_own_lines,
            }
            hold {
                counts_the_relays_that_serve_a_subscription,
                tells_a_relay_whether_it_is_the_only_one,
                tells_only_of_subscriptions_that_are_asked_for_and_known,
                a_renewed_lease_lasts_longer,
                enrolling_again_is_renewing,
                a_relay_may_renew_late_if_nobody_has_removed_it,
                removes_relays_whose_lease_is_over,
                a_lost_relay_changes_nothing,
                a_relay_that_left_has_no_row,
                the_holder_is_the_relay_of_the_last_line,
                a_lane_that_is_given_back_has_no_holder,
                a_holder_without_a_row_counts_as_none,
                a_holder_whose_lease_is_over_counts_as_none,
                the_holder_itself_sees_that_it_holds,
                tells_which_lanes_are_in_trouble,
                tells_that_it_is_paused,
                a_lane_without_a_line_is_an_error_of_the_schema,
            }
            read_log {
                reads_in_position_order_across_lanes,
                reads_only_the_lanes_it_is_asked_for,
                reads_nothing_of_the_log_without_lanes,
                reads_what_lies_behind_the_cursor,
                stops_at_until,
                stops_at_the_limit_of_entries,
                a_limit_ends_the_page_before_until_does,
                stops_at_the_limit_of_bytes,
                the_first_row_fits_whatever_its_size,
                pages_follow_each_other_without_gap_or_repeat,
                an_empty_page_ends_at_the_last_committed_position,
                a_page_never_ends_before_it_began,
                an_empty_log_has_an_empty_page,
                reads_what_the_filter_does_not_want_as_well,
                says_what_is_not_due_yet,
                a_row_that_cannot_be_understood_is_told_and_no_error,
                a_payload_over_the_limit_is_told_and_not_loaded,
                is_stale_while_paused,
                is_stale_for_another_generation,
                is_stale_for_a_subscription_that_is_gone,
            }
            read_blocked {
                an_event_behind_a_parked_one_of_its_key_is_blocked,
                a_parked_event_that_is_due_is_still_in_the_way,
                a_follower_is_in_the_way_too,
                an_event_before_the_parked_one_is_not_blocked,
                other_keys_of_the_lane_go_on,
                an_event_without_a_key_is_never_blocked,
                a_delayed_event_is_in_the_way_only_when_it_is_due,
                a_delayed_event_that_has_failed_is_in_the_way,
                a_dead_letter_that_holds_blocks_its_key,
                a_dead_letter_that_does_not_hold_blocks_nobody,
                a_resolved_dead_letter_blocks_nobody,
                a_dead_letter_holds_only_what_comes_after_it,
                another_subscription_blocks_nothing,
            }
            read_parked {
                a_parked_event_comes_back_at_the_instant_it_is_due,
                parked_events_come_in_position_order,
                only_parked_events_of_asked_lanes_come,
                a_head_that_is_due_brings_its_followers_in_order,
                followers_wait_while_their_head_is_not_due,
                a_follower_that_failed_stops_those_behind_it,
                a_delayed_event_stops_nobody_before_its_time,
                events_without_a_key_wait_for_nobody,
                a_dead_letter_that_holds_stops_what_is_parked_behind_it,
                a_limit_below_what_is_due_gives_the_first_ones,
                a_limit_counts_log_and_parked_each_by_itself,
                says_when_the_next_one_falls_due,
                says_it_for_asked_lanes_only,
                tells_of_all_troubled_lanes,
                what_another_subscription_has_parked_stays_there,
            }
            append {
                a_line_follows_on_the_last,
                an_append_of_nothing_answers_nothing,
                refuses_an_act_whose_number_is_taken,
                refuses_a_line_without_the_one_before,
                refuses_what_is_for_nobody,
                answers_done_again_and_changes_nothing_twice,
                a_repeat_is_known_only_while_it_is_the_last_line,
                another_act_under_a_number_of_its_own_is_fenced,
                one_lane_is_fenced_and_another_is_done,
                settles_without_a_lease_if_nobody_took_the_lane,
                a_zombie_settles_nothing,
                a_zombie_gives_nothing_back,
                a_zombie_parks_nothing,
                a_zombie_unparks_nothing,
                a_zombie_buries_nothing,
                an_append_that_the_database_refuses_changes_nothing,
            }
            changes_apply {
                parking_again_replaces_attempts_and_due_time,
                a_follower_that_is_parked_already_keeps_what_it_has,
                a_new_follower_has_failed_never,
                a_follower_may_fail_on_its_own_later,
                a_delayed_event_waits_for_its_time_without_an_attempt,
                delivering_what_was_parked_removes_it,
                delivering_what_is_not_parked_is_harmless,
                burying_makes_a_dead_letter_of_what_was_parked,
                burying_what_was_never_parked_works_too,
                long_error_texts_are_cut,
                the_journal_tells_of_failures_with_their_relay,
            }
            prune {
                removes_what_is_old_and_settled_by_everybody,
                keeps_what_is_young,
                keeps_what_a_subscription_lags_on,
                keeps_what_is_parked,
                removes_nothing_without_a_subscription,
                keeps_the_last_line_of_every_lane,
                a_chain_goes_on_after_its_lines_are_pruned,
                removes_old_rows_of_the_journal,
                removes_dead_letters_that_are_resolved_and_whose_event_is_gone,
                goes_a_step_at_a_time,
                positions_are_never_used_again,
            }
            dead_letters {
                a_replay_sends_it_again_as_new,
                replaying_twice_is_harmless,
                ids_that_nobody_knows_are_left_alone,
                replayed_events_keep_their_order,
                a_replay_concerns_one_subscription_only,
                the_timeline_of_a_replay_ends_with_its_delivery,
                a_held_key_goes_on_behind_its_replay,
                an_edited_one_goes_under_a_new_id,
                what_is_not_edited_stays,
                an_edited_payload_must_be_json_again,
                what_cannot_be_edited_says_why,
                a_discard_releases_a_held_key,
                dead_letters_are_listed_by_what_is_asked_for,
                dead_letters_come_oldest_first_a_page_at_a_time,
                what_was_too_large_to_be_read_is_kept_until_it_is_edited,
                what_could_not_be_understood_is_not_sent_again_as_it_was_read,
            }
            foresee {
                dead_letters_are_counted_and_left_alone,
                a_pause_is_foreseen,
                a_reset_tells_what_comes_again_and_what_never_does,
                a_reset_needs_no_pause_to_be_foreseen,
                what_cannot_be_done_cannot_be_foreseen,
            }
            jobs {
                a_job_replays_all_that_fit,
                a_job_discards_all_that_fit,
                a_job_goes_a_batch_at_a_time,
                a_job_keeps_the_order_of_a_key_from_batch_to_batch,
                what_dies_after_the_start_is_not_meant,
                what_somebody_else_has_resolved_is_left_alone,
                a_job_goes_no_faster_than_it_may,
                a_job_tells_how_far_it_is,
                jobs_take_turns,
                any_job_is_found_by_its_number,
                a_cancelled_job_does_no_more,
                what_is_over_cannot_be_cancelled,
                a_job_for_nothing_is_not_started,
                a_job_fails_if_its_subscription_is_gone,
                a_job_is_told_in_the_journal,
                jobs_that_are_over_are_pruned,
                without_a_job_there_is_nothing_to_do,
            }
            operate {
                pauses_and_resumes,
                setting_a_relay_otherwise_is_written_down,
                an_unknown_name_is_told_with_those_there_are,
                a_reset_needs_a_pause,
                a_reset_waits_for_live_holders,
                a_holder_whose_lease_has_ended_stops_no_reset,
                a_reset_moves_every_lane,
                a_reset_removes_what_the_log_will_yield_again,
                a_reset_keeps_what_is_parked_at_its_cursor,
                a_reset_keeps_what_the_log_has_no_more,
                a_drop_needs_a_pause,
                a_drop_removes_all_but_the_dead_letters,
                a_dropped_subscription_can_be_created_again,
                what_was_known_before_a_drop_is_of_no_use_after_it,
            }
            listing {
                every_event_has_exactly_one_status,
                the_words_say_how_an_event_stands,
                what_the_filter_excludes_is_skipped,
                what_lies_before_the_start_is_skipped,
                a_reset_makes_what_comes_again_pending,
                the_counts_fit_the_lists,
                the_status_tells_of_relays_and_what_they_hold,
                events_come_newest_first_a_page_at_a_time,
                a_page_has_fifty_rows_unless_told,
                events_are_listed_by_what_is_asked_for,
                a_status_without_a_subscription_means_nothing,
                a_plain_success_is_told_by_the_line_of_its_batch,
                a_delivery_that_had_to_wait_is_told_when_it_was_made,
                a_delivery_after_a_reset_is_told_as_well,
                the_lag_shows_without_any_relay,
                a_timeline_tells_everything_in_order,
                an_event_that_is_not_there_is_not_found,
                bytes_that_are_no_text_are_shown_as_digits,
            }
            search {
                events_are_found_by_aggregate_tenant_and_time,
                a_summary_tells_what_the_event_is,
                a_key_is_read_in_the_order_of_the_log,
                what_an_event_waits_for_is_told,
                a_dead_letter_that_holds_is_what_its_key_waits_for,
                without_order_nothing_waits,
                something_rare_is_found_page_by_page,
                what_cannot_be_meant_is_refused,
                dead_letters_are_found_by_topic_error_and_time,
                a_dead_letter_is_found_by_its_number,
                dead_letters_of_the_same_are_one_group,
                groups_are_told_largest_first,
            }
            overview {
                what_is_parked_is_counted_by_why,
                the_last_minute_and_the_last_hour_are_counted,
                relays_are_told_with_what_they_hold,
                lanes_tell_who_holds_them_and_what_is_ahead,
                lanes_of_nothing_are_not_found,
                a_lane_without_lines_orphans_its_events,
                a_long_backlog_is_estimated,
                what_operators_did_is_told_newest_first,
                what_operators_did_is_found_by_who_and_what,
            }
        }
    };
}

/// What [`log_conformance!`] is made of; not to be called directly.
#[doc(hidden)]
#[macro_export]
macro_rules! log_cases {
    ($fresh:path; $($module:ident { $($case:ident),* $(,)? })*) => {$(
        mod $module {
            #[allow(unused_imports)]
            use super::*;
            $(
                #[tokio::test]
                async fn $case() {
                    $crate::conformance::cases::$module::$case(&$fresh().await).await;
                }
            )*
        }
    )*};
}
