//! The one table of problems. A code is never renamed and never means something else later.

use http::StatusCode;

/// A type of problem.
#[derive(Debug)]
pub struct ProblemType {
    /// The code, which is also the end of its address.
    pub code: &'static str,
    /// The status it is answered with.
    pub status: StatusCode,
    /// What it is, in a few words.
    pub title: &'static str,
    /// What it means, and what to do about it.
    pub doc: &'static str,
}

/// Declares the table: name, status, code, title, and the page that explains it.
macro_rules! problems {
    ($($name:ident $status:ident $code:literal $title:literal $doc:literal;)+) => {
        $(#[doc = $title]
        #[doc = ""]
        #[doc = $doc]
        pub static $name: ProblemType = ProblemType {
            code: $code,
            status: StatusCode::$status,
            title: $title,
            doc: $doc,
        };)+

        /// Every type of problem there is.
        pub static TABLE: &[&ProblemType] = &[$(&$name),+];
    };
}

problems! {
    BAD_REQUEST BAD_REQUEST "bad_request" "The request cannot be read"
        "The request breaks a rule of HTTP itself, such as an address that is not UTF-8.";
    BAD_PARAMETER BAD_REQUEST "bad_parameter" "A parameter cannot be read"
        "A part of the address after `?` is unknown, stands twice, or has a value that makes no sense. `errors` names it.";
    BAD_BODY BAD_REQUEST "bad_body" "The body cannot be read"
        "The body is not the JSON this endpoint takes. `errors` names the field; the OpenAPI document shows the whole shape.";
    BAD_CURSOR BAD_REQUEST "bad_cursor" "The cursor cannot be read"
        "A cursor is used exactly as it was given, with the same filter, on the same list. Start again without one.";
    BAD_IDEMPOTENCY_KEY BAD_REQUEST "bad_idempotency_key" "The idempotency key cannot be used"
        "The header Idempotency-Key has 1 to 255 printable ASCII characters, best a fresh UUID for each command.";
    UNAUTHENTICATED UNAUTHORIZED "unauthenticated" "Who is asking?"
        "Send a token as `authorization: Bearer rf_…`, as the password of Basic authentication, or sign in.";
    BAD_TOKEN UNAUTHORIZED "bad_token" "The token opens nothing"
        "The token is unknown, expired or revoked. Ask an operator for another; ten failures lock an address out for five minutes.";
    MISSING_SCOPE FORBIDDEN "missing_scope" "The token may not do this"
        "The token is good, but does not have the scope that this endpoint asks for. An operator can issue one that has it.";
    BOUND_BY_PROFILE FORBIDDEN "bound_by_profile" "Whoever is bound by a profile may not do this"
        "The token names a profile, as tokens of agents do. What loosens or answers for such tokens is done by somebody whose token names none.";
    CROSS_SITE FORBIDDEN "cross_site" "The request may come from another site"
        "With a session cookie, everything but reading needs `content-type: application/json` and the header `x-weir-csrf: 1`, and must come from Weir's own pages. Programs use a token in `authorization` instead.";
    NOT_FOUND NOT_FOUND "not_found" "There is nothing here"
        "No resource has this address. The OpenAPI document at /api/openapi.json lists those that exist.";
    NO_SUCH_EVENT NOT_FOUND "no_such_event" "There is no such event"
        "The log has no event at this position: it lies beyond the head, or before what retention keeps.";
    NO_SUCH_PROJECTION NOT_FOUND "no_such_projection" "There is no such projection"
        "No read model of this build has this name. GET /api/projections lists them.";
    NO_SUCH_DEAD_LETTER NOT_FOUND "no_such_dead_letter" "There is no such dead letter"
        "Nothing is parked for this projection at this position; perhaps it was redelivered already.";
    NO_SUCH_TOKEN NOT_FOUND "no_such_token" "There is no such token"
        "No token has this id. GET /api/tokens lists those that were issued.";
    NO_SUCH_RULE NOT_FOUND "no_such_rule" "There is no such rule"
        "No rule has this id; perhaps it was removed. GET /api/rules lists those in force.";
    NO_SUCH_DOMAIN_RULE NOT_FOUND "no_such_domain_rule" "There is no such rule about hosts"
        "No rule stands under this pattern; perhaps it was removed. GET /api/web/rules lists those in force.";
    NO_SUCH_SOURCE NOT_FOUND "no_such_source" "There is no such source"
        "No source of advisories has this name. GET /api/security-sources lists them.";
    NO_SUCH_WAIVER NOT_FOUND "no_such_waiver" "There is no such waiver"
        "No waiver that is in force or waits has this id; perhaps it was revoked, or its time is over. GET /api/registry/waivers lists those of packages, GET /api/web/waivers those of the web gateway.";
    NO_SUCH_HOLD NOT_FOUND "no_such_hold" "There is no such hold"
        "No hold has this id, or its time is over. GET /api/registry/holds lists those there are.";
    NO_SUCH_PROFILE NOT_FOUND "no_such_profile" "There is no such profile"
        "No profile has this name. GET /api/registry/profiles lists those there are.";
    NO_SUCH_RESERVATION NOT_FOUND "no_such_reservation" "The name is not reserved"
        "No such name was reserved here. GET /api/registry/reserved lists them; those of the configuration are released there.";
    NO_SUCH_ACCOUNT NOT_FOUND "no_such_account" "There is no such account"
        "Nothing was ever granted to an account of this name. GET /api/mint/accounts lists those there are.";
    NO_SUCH_AGENT NOT_FOUND "no_such_agent" "There is no such agent"
        "No agent has this id: 64 lower-case hexadecimal digits, the SHA-256 of its public key. GET /api/access/agents lists those that were registered.";
    NO_SUCH_WEB_REQUEST NOT_FOUND "no_such_web_request" "There is no such request"
        "No agent has made a request of this id. GET /api/web/requests lists those there are.";
    NO_WEB_CONTENT NOT_FOUND "no_web_content" "There is no content"
        "Nothing was given for this request, or what was given is no longer kept: a page as long as it is cached, an answer for as many cycles as `web.cache.ttl` says.";
    NO_SUCH_REPORT NOT_FOUND "no_such_report" "There is no such report"
        "The cycle has not begun, or, where its state is asked for, not ended. GET /api/web/reports lists those that have.";
    NOTHING_CALLED_SO NOT_FOUND "nothing_called_so" "Nothing is called so"
        "No advisory that is known now has this id or alias, and no rule in force has this id. GET /api/registry/explain names what is said against a version.";
    METHOD_NOT_ALLOWED METHOD_NOT_ALLOWED "method_not_allowed" "The method does not exist here"
        "The resource exists, but not with this method. The header Allow names those it has.";
    NOT_ACCEPTABLE NOT_ACCEPTABLE "not_acceptable" "No such representation"
        "Events come as `application/json` (a page) or `text/event-stream` (a live stream). Name one of them in Accept.";
    REQUEST_TIMEOUT REQUEST_TIMEOUT "request_timeout" "The body took too long"
        "The body of the request did not arrive in time. Send it again, at once.";
    SOURCE_DISABLED CONFLICT "source_disabled" "The source is not visited"
        "This source of advisories is switched off in the configuration (`sources.*.enabled`; for the blocklist, no file is named). Switch it on, and restart Weir.";
    REPLAY_RUNNING CONFLICT "replay_running" "A replay is running"
        "This projection is being rebuilt already. Wait for it, or cancel it first.";
    NO_REPLAY CONFLICT "no_replay" "No replay is running"
        "There is nothing to cancel: this projection is not being rebuilt.";
    OPERATION_REFUSED CONFLICT "operation_refused" "The projection refused"
        "The command is on record, and the worker that holds the projection could not carry it out; the detail says why.";
    REFUSED_BEFORE CONFLICT "refused_before" "This was refused before"
        "An earlier request with the same idempotency key was refused in these words. Use a fresh key to ask anew.";
    RULE_EXISTS CONFLICT "rule_exists" "The rule exists already"
        "A rule has this id already. Ids are made by Weir; ask again.";
    WAIVER_EXISTS CONFLICT "waiver_exists" "The waiver exists already"
        "A waiver has this id already. Ids are made by Weir; ask again.";
    AGENT_EXISTS CONFLICT "agent_exists" "The agent exists already"
        "An agent with this key is registered under another name, or was revoked. An agent that was revoked never comes back: make it a new key.";
    SECOND_PERSON CONFLICT "second_person" "A second person has to say yes"
        "Who asked for a waiver that needs a second person cannot grant it, with any of the tokens of that name. Ask somebody who has a token of another name.";
    CLOCK_NOT_DRIVEN CONFLICT "clock_not_driven" "The clock cannot be driven"
        "Ticks follow the wall clock. Only where the configuration says `nexus.clock: driven` does somebody move them on.";
    CURSOR_EXPIRED GONE "cursor_expired" "The cursor is older than what is kept"
        "Events up to this position were archived. Start again from the oldest event that is kept, which the detail names.";
    CURSOR_OF_ANOTHER_LIFE GONE "cursor_of_another_life" "The cursor is from another life of the log"
        "The log was restored or has failed over since. Start again; positions of before may name other events now.";
    BODY_TOO_LARGE PAYLOAD_TOO_LARGE "body_too_large" "The body is too large"
        "A JSON body has at most 1 MiB. Larger content does not belong into a command.";
    URI_TOO_LONG URI_TOO_LONG "uri_too_long" "The address is too long"
        "An address has at most 8 KiB. Filter by fewer names, or by subsystem.";
    UNSUPPORTED_MEDIA_TYPE UNSUPPORTED_MEDIA_TYPE "unsupported_media_type" "The body is of another type"
        "Send JSON, and say so: `content-type: application/json`.";
    IDEMPOTENCY_KEY_REUSED UNPROCESSABLE_ENTITY "idempotency_key_reused" "The idempotency key belongs to another request"
        "The same key came before with another method, address or body. Use a fresh key for each command, and the same key only to repeat it.";
    RULE_REFUSED UNPROCESSABLE_ENTITY "rule_refused" "The rule makes no sense"
        "The rule has the right shape, but not a meaning: `errors` names the field. Nothing was changed.";
    DOMAIN_RULE_REFUSED UNPROCESSABLE_ENTITY "domain_rule_refused" "The rule about hosts makes no sense"
        "The rule has the right shape, but not a meaning: `errors` names the field, or the line of an import. Nothing was changed.";
    WAIVER_REFUSED UNPROCESSABLE_ENTITY "waiver_refused" "The waiver makes no sense"
        "The waiver has the right shape, but not a meaning: `errors` names the field. Nothing was changed.";
    POLICY_REFUSED UNPROCESSABLE_ENTITY "policy_refused" "The policy makes no sense"
        "A policy that is tried has the keys that the configuration has for judging, `rules` and `without`; `errors` says line and column. Nothing was tried.";
    HOLD_REFUSED UNPROCESSABLE_ENTITY "hold_refused" "The answer makes no sense"
        "The answer has the right shape, but not a meaning: `errors` names the field. Nothing was changed.";
    PROFILE_REFUSED UNPROCESSABLE_ENTITY "profile_refused" "The profile makes no sense"
        "The profile has the right shape, but not a meaning: `errors` names the field. Nothing was changed.";
    RESERVATION_REFUSED UNPROCESSABLE_ENTITY "reservation_refused" "The name cannot be reserved"
        "No package of this ecosystem can be called so, or there are too many reserved names; the detail says which. Nothing was changed.";
    CHECK_REFUSED UNPROCESSABLE_ENTITY "check_refused" "The file cannot be read"
        "What was sent to be checked is no file of its kind, or names too much; the detail says what and where.";
    UNKNOWN_TOKEN UNPROCESSABLE_ENTITY "unknown_token" "No token has this id"
        "What a token would get is judged by its profile and its waivers, and no token was ever issued with this id. GET /api/tokens lists them; an id is the part between `rf_` and the next `_`.";
    EPOCH_REFUSED UNPROCESSABLE_ENTITY "epoch_refused" "The world's time cannot be set so"
        "The epoch only advances, a clock is only driven on, and somebody says why: `errors` names the field. Nothing was changed.";
    GRANT_REFUSED UNPROCESSABLE_ENTITY "grant_refused" "The grant makes no sense"
        "The grant has the right shape, but not a meaning: `errors` names the field. Nothing was granted.";
    INSUFFICIENT_SPARK UNPROCESSABLE_ENTITY "insufficient_spark" "There is too little spark"
        "The account cannot pay for this. An operator grants spark with POST /api/mint/grants or `weir mint grant`.";
    AGENT_REFUSED UNPROCESSABLE_ENTITY "agent_refused" "The agent cannot be registered"
        "What was sent is no agent's name or key: `errors` names the field. Nothing was registered.";
    TOKEN_REFUSED UNPROCESSABLE_ENTITY "token_refused" "The token cannot be issued"
        "What was asked for is no token: `errors` names the field. Nothing was issued.";
    POSITION_REFUSED UNPROCESSABLE_ENTITY "position_refused" "The position is not in the log"
        "A replay starts between 0 and the head of the log.";
    LOCKED_OUT TOO_MANY_REQUESTS "locked_out" "Too many failed attempts"
        "Ten tokens from this address opened nothing. It is locked out for five minutes; Retry-After says how much is left.";
    PORTAL_CLOSED FORBIDDEN "portal_closed" "The epoch does not allow this yet"
        "The portal opens for GET and HEAD in epoch 3 and for everything else in epoch 4. An operator advances the epoch with POST /api/nexus/epoch or `weir nexus epoch N`.";
    PORTAL_QUOTA TOO_MANY_REQUESTS "portal_quota" "The quota of this cycle is used up"
        "An agent has 5 requests in a cycle of epoch 3, and 2 more for each epoch after it. The next cycle has new ones; GET /api/nexus says when it begins.";
    PORTAL_RATE TOO_MANY_REQUESTS "portal_rate" "Too many requests in this tick"
        "An agent may make `web.requests_per_tick` requests in one tick, and pauses after the outside has said that it is too much. Send the same request again when the detail says so.";
    PORTAL_DOMAIN_BLOCKED FORBIDDEN "portal_domain_blocked" "The host is blocked"
        "A rule, or what the host's address is, forbids it. `weir web why URL` or GET /api/web/check names the rule.";
    PORTAL_DENIED FORBIDDEN "portal_denied" "The agent may not do this, or cannot pay for it"
        "The signature is not the agent's, the agent is not known any more, it has too little spark, or what it asks for needs a waiver: the detail says which.";
    PORTAL_INVALID UNPROCESSABLE_ENTITY "portal_invalid" "This is no request that can be carried out"
        "The address or another field is not acceptable, or the id was used before for another request: the detail says which.";
    PORTAL_FAILED BAD_GATEWAY "portal_failed" "The outside gave nothing that could be passed on"
        "The connection failed, the answer broke its own rules, redirects went on and on, or its type is none that is passed on. It cost 1 tick and 1 spark if anything left.";
    PORTAL_TIMEOUT GATEWAY_TIMEOUT "portal_timeout" "The outside took too long"
        "All of it, waiting for a place included, took longer than `web.timeout`.";
    BAD_ENVELOPE UNPROCESSABLE_ENTITY "bad_envelope" "The bytes are no envelope"
        "POST /api/messages takes one MessagePack envelope {kind, payload} of at most 1 MiB; ARCHITECTURE.md has its fields.";
    NO_SUCH_APPROVAL NOT_FOUND "no_such_approval" "Nobody has asked for this"
        "No agent has asked a human about a request of this hash. GET /api/web/approvals lists what was asked.";
    HOLD_ANSWERED CONFLICT "hold_answered" "Somebody has said otherwise"
        "The hold has an answer that stands, and says the opposite; the detail says whose and why. Send `replace: true` with yours where it is to take that one's place. The same word again is no contradiction and changes nothing.";
    APPROVAL_ANSWERED CONFLICT "approval_answered" "It is answered otherwise already"
        "Somebody has answered, and that answer holds. Send `replace: true` to have yours take its place.";
    APPROVAL_REFUSED UNPROCESSABLE_ENTITY "approval_refused" "This is no answer"
        "An answer is a human's, in time, with a reason, and holds from a second to 7 days. Nothing was changed.";
    INTERNAL INTERNAL_SERVER_ERROR "internal" "Something broke inside"
        "This is a fault of Weir's. The server's log says more under the id of this request.";
    LOG_DAMAGED INTERNAL_SERVER_ERROR "log_damaged" "The log is damaged"
        "An event is missing or cannot be read. Run `weir verify`, and find out who wrote around Weir.";
    BUSY SERVICE_UNAVAILABLE "busy" "Too much is waiting"
        "The queue for this work is full. Nothing was written; try again after what Retry-After says.";
    DATABASE_AWAY SERVICE_UNAVAILABLE "database_away" "The database does not answer"
        "Postgres is restarting, full, or cut off. Nothing was written; try again after what Retry-After says.";
    OUTCOME_UNKNOWN SERVICE_UNAVAILABLE "outcome_unknown" "It is not known whether this was written"
        "The connection to Postgres broke while it committed. Repeat the request with the same Idempotency-Key to learn what became of it.";
    CONTENDED SERVICE_UNAVAILABLE "contended" "Others keep writing here"
        "The same stream is written to so often that this command found no gap. Nothing was written; try again.";
    NOT_REACHED SERVICE_UNAVAILABLE "not_reached" "The position is not reached yet"
        "`min_position` asks for a view that is at least so new, and it did not get there in time. Try again, or ask without it.";
    PROJECTION_HALTED SERVICE_UNAVAILABLE "projection_halted" "The projection is halted"
        "The read model stopped at an event it could not apply. An operator looks at its dead letters, and replays it.";
    NOT_BUILT SERVICE_UNAVAILABLE "not_built" "The view does not exist yet"
        "No worker has built this read model so far. Start one (`weir worker`), and try again.";
    NO_WORKER SERVICE_UNAVAILABLE "no_worker" "No worker took this up in time"
        "The command is on record and will be carried out when a worker runs. Do not repeat it.";
    TOO_MANY_STREAMS SERVICE_UNAVAILABLE "too_many_streams" "Too many event streams are open"
        "This instance serves as many streams as it may. Close some, or ask another instance.";
    NO_PACKAGES SERVICE_UNAVAILABLE "no_packages" "This process cannot judge packages"
        "Packages are judged by processes that serve them (`weir up`, `weir api`), and only while they can read the whole policy. Ask one of those; if this is one, its log says what it cannot read.";
    NO_CACHE SERVICE_UNAVAILABLE "no_cache" "This process keeps no cache"
        "Files and lists are kept by processes that serve packages (`weir up`, `weir api`, with a registry enabled). Ask one of those.";
    WEB_OFF SERVICE_UNAVAILABLE "web_off" "This process does not serve web requests"
        "Workers do not. Ask an instance that runs `weir up` or `weir api`.";
    STOPPING SERVICE_UNAVAILABLE "stopping" "This instance is stopping"
        "The process was told to end and takes nothing new. Ask again; another instance or the next one answers.";
    TIMED_OUT SERVICE_UNAVAILABLE "timed_out" "This took too long"
        "The answer was not ready within 30 seconds. A command may still have been carried out: repeat it with the same Idempotency-Key.";
}

/// Finds a type by its code.
pub fn find(code: &str) -> Option<&'static ProblemType> {
    TABLE.iter().copied().find(|kind| kind.code == code)
}

/// The type that says no more than a bare status does.
pub fn of_status(status: StatusCode) -> &'static ProblemType {
    match status {
        StatusCode::UNAUTHORIZED => &UNAUTHENTICATED,
        StatusCode::FORBIDDEN => &MISSING_SCOPE,
        StatusCode::NOT_FOUND => &NOT_FOUND,
        StatusCode::METHOD_NOT_ALLOWED => &METHOD_NOT_ALLOWED,
        StatusCode::NOT_ACCEPTABLE => &NOT_ACCEPTABLE,
        StatusCode::REQUEST_TIMEOUT => &REQUEST_TIMEOUT,
        StatusCode::PAYLOAD_TOO_LARGE => &BODY_TOO_LARGE,
        StatusCode::URI_TOO_LONG => &URI_TOO_LONG,
        StatusCode::UNSUPPORTED_MEDIA_TYPE => &UNSUPPORTED_MEDIA_TYPE,
        status if status.is_server_error() => &INTERNAL,
        _ => &BAD_REQUEST,
    }
}
