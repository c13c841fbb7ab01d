// The faults of an API, row by row: number, status, message, and when it occurs. Numbers are defined nowhere
// else.

import type { ErrorName } from './catalogue.ts'
import { type Fault, type Refusal, refuse } from './refusal.ts'

interface Row {
  /** Identifies the fault to callers; rows may share one. */
  readonly code: number
  readonly status: number
  /** A sentence, or a function that makes it from the words of a case. */
  readonly sentence: string | ((...words: never[]) => string)
  /** The member of the body that is always at fault (RFC 6901). */
  readonly pointer?: string
  /** When it occurs, for the documentation. */
  readonly when: string
}

/** Makes the sentence for a broken rule: a place, and words that follow its name. */
const placed = (place: string, rule: string) => `${place} ${rule}`

const withoutPrice = (model: string) =>
  `Forbidden: a spend limit governs this call, and the model ${model} has no price: set one in ai.prices, or the unpriced_cost of the gateway`

export const apiFaults = {
  // Members, parameters and fields of a request.
  invalid: { code: 10001, status: 400, sentence: placed, when: 'Something breaks a rule.' },
  missing: { code: 10002, status: 400, sentence: placed, when: 'A member is missing.' },
  unknown: { code: 10003, status: 400, sentence: placed, when: 'A member or parameter is unknown.' },
  repeated: { code: 10004, status: 400, sentence: placed, when: 'Something is duplicated.' },
  owned: { code: 10005, status: 400, sentence: placed, when: 'A member can be set only by the server.' },

  // Bodies as a whole, and bytes that are not a request.
  unreadable_body: {
    code: 6003,
    status: 400,
    sentence: (form: string) => `The body must be ${form}`,
    when: 'The body cannot be read.',
  },
  no_json_object: {
    code: 6003,
    status: 400,
    sentence: 'The body must be a JSON object in UTF-8',
    when: 'The body of an AI call is not a JSON object.',
  },
  no_request: {
    code: 6003,
    status: 400,
    sentence: 'This is not a valid HTTP/1.1 request',
    when: 'The bytes received are not a valid request.',
  },
  late_request: {
    code: 6003,
    status: 408,
    sentence: 'The request did not arrive in time',
    when: 'A request takes too long to arrive.',
  },
  head_too_large: {
    code: 6003,
    status: 431,
    sentence: (maxBytes: number) => `The header section is larger than ${maxBytes} bytes`,
    when: 'The header section is too large.',
  },
  wrong_type: {
    code: 6004,
    status: 415,
    sentence: (type: string) => `The Content-Type must be ${type}`,
    when: 'The body has another Content-Type.',
  },
  no_plain_json: {
    code: 6004,
    status: 415,
    sentence: 'The body must be JSON: Content-Type: application/json, without Content-Encoding',
    when: 'The body of an AI call has another Content-Type, or is encoded.',
  },
  too_large: {
    code: 6005,
    status: 413,
    sentence: (maxBytes: number) => `The body is larger than ${maxBytes} bytes`,
    when: 'The body is too large.',
  },
  call_too_large: {
    code: 6005,
    status: 413,
    sentence: (size: string) => `The body must not be larger than ${size}`,
    when: 'The body of an AI call is too large.',
  },

  // Paths, and the things they name.
  method_not_allowed: {
    code: 7001,
    status: 405,
    sentence: (allow: string) => `Method not allowed; use ${allow}`,
    when: 'The path does not allow the method.',
  },
  unknown_method: {
    code: 7001,
    status: 501,
    sentence: (known: string) => `Unknown method; use ${known}`,
    when: 'The server does not know the method.',
  },
  no_web_socket: {
    code: 7001,
    status: 426,
    sentence: 'There is no WebSocket here: send the call with POST',
    when: 'An AI route without WebSockets is asked for one.',
  },
  no_route: {
    code: 7003,
    status: 404,
    sentence: (path: string) => `No route for ${path}`,
    when: 'The path is unknown.',
  },
  bad_path_encoding: {
    code: 7003,
    status: 404,
    sentence: 'The path has invalid percent-encoding',
    when: 'The path cannot be decoded.',
  },
  no_such: {
    code: 7003,
    status: 404,
    sentence: (thing: string) => `${thing} not found`,
    when: 'Nothing has this name or id.',
  },
  no_zone: {
    code: 7003,
    status: 404,
    sentence: 'Zone not found, or this token is not allowed to access its account',
    when: 'The zone is unknown, or not accessible to the token.',
  },
  no_error: {
    code: 7003,
    status: 404,
    sentence: (code: string) => `Unknown error code ${code}`,
    when: 'The error code is unknown.',
  },
  no_page_type: {
    code: 7003,
    status: 404,
    sentence: (types: string) => `Unknown error page type; the types are ${types}`,
    when: 'The type of error page is unknown.',
  },
  no_page: {
    code: 7003,
    status: 404,
    sentence: 'No error page of this type is set',
    when: 'No error page of the type is set.',
  },
  no_payload: {
    code: 7003,
    status: 404,
    sentence: 'This body was not stored',
    when: 'The body was not stored.',
  },
  not_stopping: {
    code: 7003,
    status: 409,
    sentence: 'This gateway is not stopping',
    when: 'A gateway that is not stopping is asked to hand over its admin listener.',
  },
  no_ai_route: {
    code: 7003,
    status: 404,
    sentence: 'This path is not a route of an AI gateway',
    when: 'The path of an AI call is unknown.',
  },
  no_gateway: {
    code: 7003,
    status: 404,
    sentence: 'Gateway not found',
    when: 'An AI call names a gateway that does not exist.',
  },
  no_provider: {
    code: 7003,
    status: 404,
    sentence: (name: string, hint: string) => `Unknown provider ${name}${hint}`,
    when: 'An AI call names an unknown provider.',
  },
  no_api: {
    code: 7003,
    status: 404,
    sentence: placed,
    when: 'A provider-native call is in an API that its provider has not.',
  },
  no_resource: {
    code: 7003,
    status: 404,
    sentence: (provider: string, resources: string) =>
      `The path must continue with one of the resources that the configuration lists for ${provider}${resources}`,
    when: 'An AI call names an unknown resource of a provider.',
  },
  no_place: {
    code: 7003,
    status: 404,
    sentence: (setting: string, provider: string, places: string) =>
      `The path must name one of the ${setting} that the configuration lists for ${provider}${places}`,
    when: 'An AI call names an unknown location or region of a provider.',
  },
  not_for_gateway: {
    code: 7003,
    status: 404,
    sentence: (provider: string) =>
      `With its own key for ${provider}, the gateway calls only models, and those of its own project: send a key of yours for anything else`,
    when: 'A provider-native call without a key of its own is not to a model, or names another project.',
  },
  no_key: {
    code: 7003,
    status: 404,
    sentence: (provider: string, setting: string) =>
      `The gateway has no key for ${provider}: set ${setting} in its configuration, or, on provider-native and unified routes, send a key of your own`,
    when: 'An AI call is for a provider that has no key, and brings none.',
  },
  no_model: {
    code: 7003,
    status: 404,
    sentence: (model: string, hint: string) =>
      `Unknown model ${JSON.stringify(model)}: models are named AUTHOR/MODEL, such as openai/gpt-4o${hint}`,
    when: 'An AI call names a model that no provider has.',
  },
  no_listed_model: {
    code: 7003,
    status: 404,
    sentence: (model: string) =>
      `No model ${JSON.stringify(model)} is among those that you may call: list them`,
    when: 'A model is asked for that is not in the list of models.',
  },
  several_models: {
    code: 7003,
    status: 400,
    sentence: (model: string, names: string) =>
      `Several providers have ${JSON.stringify(model)}: name one of them with it, as in ${names}`,
    when: 'An AI call names a model without its provider, and several have it.',
  },

  // Permissions and limits.
  unauthorized: {
    code: 10000,
    status: 401,
    sentence: 'Authentication error',
    when: 'The token is missing or invalid.',
  },
  native_unauthorized: {
    code: 2009,
    status: 401,
    sentence: 'Unauthorized',
    when: 'A provider-native call has no valid token.',
  },
  forbidden: {
    code: 10000,
    status: 403,
    sentence: (need: string) => `Forbidden: this requires ${need}`,
    when: 'The token does not allow this on the account, or on the account that owns the zone.',
  },
  call_forbidden: {
    code: 10000,
    status: 403,
    sentence: 'Forbidden: this requires the permission AI Gateway Run on this account',
    when: 'The token does not allow AI calls.',
  },
  native_forbidden: {
    code: 2009,
    status: 403,
    sentence: 'Forbidden: this requires the permission AI Gateway Run on this account',
    when: 'The token does not allow provider-native calls.',
  },
  call_beyond_token: {
    code: 10000,
    status: 403,
    sentence: (limit: string) => `Forbidden: the token is limited to the ${limit}`,
    when: 'An AI call is of a gateway or a model that its token is not limited to.',
  },
  native_beyond_token: {
    code: 2009,
    status: 403,
    sentence: (limit: string) => `Forbidden: the token is limited to the ${limit}`,
    when: 'A provider-native call is of a gateway or a model that its token is not limited to.',
  },
  call_denied_by_policy: {
    code: 10000,
    status: 403,
    sentence: (why: string) => `Access denied by policy: ${why}`,
    when: 'A policy of the gateway blocks an AI call, or none allows it.',
  },
  native_denied_by_policy: {
    code: 2009,
    status: 403,
    sentence: (why: string) => `Access denied by policy: ${why}`,
    when: 'A policy of the gateway blocks a provider-native call, or none allows it.',
  },
  request_blocked: {
    code: 2029,
    status: 403,
    sentence: (found: string) => `The guard of the gateway has blocked the request: it has ${found}`,
    when: 'The guard of the gateway blocks what it has found in the request of an AI call.',
  },
  unreadable_to_guard: {
    code: 2029,
    status: 403,
    sentence: (what: string) => `The guard of the gateway has blocked the request: it cannot look at ${what}`,
    when: 'The guard of the gateway would redact or block, and cannot look at the request of an AI call.',
  },
  response_blocked: {
    code: 2030,
    status: 403,
    sentence: (found: string) => `The guard of the gateway has blocked the response: it has ${found}`,
    when: 'The guard of the gateway blocks what it has found in the response to an AI call.',
  },
  unreadable_response: {
    code: 2030,
    status: 403,
    sentence: (what: string) =>
      `The guard of the gateway has blocked the response: it cannot look at ${what}`,
    when: 'The guard of the gateway would redact or block, and cannot look at the response to an AI call.',
  },
  guard_unavailable: {
    code: 2031,
    status: 503,
    sentence: (check: string, why: string) =>
      `The guard of the gateway cannot decide about the ${check}: ${why}; if that lasts, the operator should check the webhook of the guard`,
    when: 'The webhook of the guard of the gateway gave no verdict about the request of an AI call or the response to it, which then goes nowhere.',
  },
  call_beyond_limit: {
    code: 10000,
    status: 403,
    sentence: (limit: string) => `Forbidden: ${limit}`,
    when: 'An AI call could cost or use more than the whole of a spend limit.',
  },
  native_beyond_limit: {
    code: 2009,
    status: 403,
    sentence: (limit: string) => `Forbidden: ${limit}`,
    when: 'A provider-native call could cost or use more than the whole of a spend limit.',
  },
  call_without_price: {
    code: 10000,
    status: 403,
    sentence: withoutPrice,
    when: 'A spend limit in US dollars governs an AI call whose model has no price.',
  },
  native_without_price: {
    code: 2009,
    status: 403,
    sentence: withoutPrice,
    when: 'A spend limit in US dollars governs a provider-native call whose model has no price, or is unknown.',
  },
  beyond_token: {
    code: 10000,
    status: 403,
    sentence: (rule: string) => `Forbidden: ${rule}`,
    when: 'A token would allow more than the one that creates or changes it.',
  },
  outlasts_grant: {
    code: 10000,
    status: 403,
    sentence: (cannot: string) =>
      `Forbidden: an app cannot ${cannot}, since that would outlast what its user allowed; a person can in the dashboard, or a program with an API token`,
    when: 'An app, by an access token of OAuth, would do what outlasts its grant.',
  },
  no_user: {
    code: 10000,
    status: 403,
    sentence: (scope: string) => `Forbidden: this requires an OAuth token of a user with the scope ${scope}`,
    when: 'The token does not act for a user, or lacks the scope.',
  },
  too_many_changes: {
    code: 10429,
    status: 429,
    sentence: 'This token has made too many changes: retry after the seconds in Retry-After',
    when: 'The token has made too many changes; reads are not counted.',
  },

  // Stored records that prevent a change.
  gateway_taken: {
    code: 10001,
    status: 409,
    sentence: 'id is taken by another gateway',
    pointer: '/id',
    when: 'A gateway with this id exists.',
  },
  dynamic_route_taken: {
    code: 10001,
    status: 409,
    sentence: 'name is taken by another dynamic route of this gateway',
    pointer: '/name',
    when: 'The gateway has a dynamic route with this name.',
  },
  too_many_dynamic_routes: {
    code: 10414,
    status: 409,
    sentence: (maxCount: number) => `The gateway already has ${maxCount} dynamic routes: delete one first`,
    when: 'The gateway has the most dynamic routes that it may have.',
  },
  policy_taken: {
    code: 10001,
    status: 409,
    sentence: 'name is taken by another policy of this draft',
    pointer: '/name',
    when: 'The draft has a policy with this name.',
  },
  too_many_own_tokens: {
    code: 10414,
    status: 409,
    sentence: (maxCount: number) => `You already have ${maxCount} tokens in this account: revoke one first`,
    when: 'The user has the most tokens of their own in the account that a person may have.',
  },
  too_many_policies: {
    code: 10414,
    status: 409,
    sentence: (maxCount: number) => `The draft already has ${maxCount} policies: delete one first`,
    when: 'The draft has the most policies that it may have.',
  },
  too_many_budget_alerts: {
    code: 10414,
    status: 409,
    sentence: (maxCount: number) => `The gateway already has ${maxCount} budget alerts: delete one first`,
    when: 'The gateway has the most budget alerts that it may have.',
  },
  no_policy_draft: {
    code: 10001,
    status: 409,
    sentence: 'There is no draft to commit: add, replace or delete a policy first',
    when: 'Nothing has changed since the last commit of policies.',
  },
  outdated_policy_draft: {
    code: 10001,
    status: 409,
    sentence:
      'Other policies have come into effect since this draft began: discard it, and make its changes again',
    when: 'A draft of policies began before the commit in effect.',
  },
  no_such_provider: {
    code: 7003,
    status: 404,
    sentence: (name: string) => `${name} is no provider of this gateway or account`,
    when: 'The provider is unknown.',
  },
  custom_provider_taken: {
    code: 10001,
    status: 409,
    sentence: 'slug is taken by another custom provider, of this account or of the configuration',
    pointer: '/slug',
    when: 'A custom provider with this slug exists.',
  },
  too_many_custom_providers: {
    code: 10414,
    status: 409,
    sentence: (maxCount: number) => `The account already has ${maxCount} custom providers: delete one first`,
    when: 'The account has the most custom providers that it may have.',
  },
  too_many_provider_configs: {
    code: 10414,
    status: 409,
    sentence: (maxCount: number) => `The gateway already has ${maxCount} keys of providers: delete one first`,
    when: 'The gateway has the most keys of providers that it may have.',
  },
  no_ai_host: {
    code: 7003,
    status: 404,
    sentence: 'This gateway serves no AI calls: set ai.hosts in its configuration',
    when: 'The configuration has no host for AI calls.',
  },
  not_supported: {
    code: 7003,
    status: 404,
    sentence: (thing: string) => `${thing}: not supported by this gateway`,
    when: 'Published clients ask for something that does not exist here.',
  },
  no_own_key: {
    code: 7003,
    status: 400,
    sentence: (provider: string) =>
      `The gateway takes only keys of its own or of the caller (byok_only), and has none for ${provider}: add one to its provider configs, or, on provider-native and unified routes, send a key of your own`,
    when: 'An AI call brings no key, and its gateway must not use those of the configuration.',
  },
  no_key_alias: {
    code: 7003,
    status: 400,
    sentence: (provider: string) =>
      `svc-aig-byok-alias names no key of ${provider} among the provider configs of this gateway`,
    when: 'An AI call chooses a key that its gateway does not have.',
  },
  unreadable_key: {
    code: 7010,
    status: 503,
    sentence: (provider: string) =>
      `The stored key of ${provider} cannot be read: it was sealed with a secrets.key that this machine does not have, or for another address. Set the key again`,
    when: 'A stored key of a provider cannot be unsealed.',
  },
  two_secrets: {
    code: 10409,
    status: 409,
    sentence:
      'The client already has two secrets: delete the old one (DELETE rotate_secret) before you create another',
    when: 'The client already has two secrets: delete the older one first.',
  },
  no_secrets: {
    code: 10410,
    status: 400,
    sentence: 'The client has no secret to rotate: its token_endpoint_auth_method is none',
    when: 'The client has no secrets.',
  },
  one_secret: {
    code: 10411,
    status: 404,
    sentence: 'There is no rotated secret to delete',
    when: 'There is no rotated secret to delete.',
  },
  not_ready_for_public: {
    code: 10412,
    status: 400,
    sentence: (lack: string) => lack,
    when: 'Something is missing before the client can become public.',
  },
  host_verified: {
    code: 10413,
    status: 400,
    sentence:
      'client_uri must keep the host that was verified, also after it was removed; only its path may change',
    pointer: '/client_uri',
    when: 'The verified host of a client would change.',
  },
  public_for_ever: {
    code: 10413,
    status: 400,
    sentence: 'visibility cannot go back to private: publishing is irreversible',
    pointer: '/visibility',
    when: 'A public client would become private.',
  },
  uri_for_ever: {
    code: 10413,
    status: 400,
    sentence: 'client_uri cannot be removed from a public client',
    pointer: '/client_uri',
    when: 'A public client would lose its client_uri.',
  },
  too_many_rules: {
    code: 10414,
    status: 409,
    sentence: (maxCount: number) => `The zone already has ${maxCount} rules of this kind: delete one first`,
    when: 'The zone has the most rules that it may have.',
  },
  personal_token: {
    code: 10424,
    status: 409,
    sentence: 'The token belongs to a member, who alone may have its value: disable or delete it',
    when: 'The token is one that a member made for themselves.',
  },
  last_super_administrator: {
    code: 10415,
    status: 409,
    sentence:
      'The account must keep a super administrator: make another member one first (PUT members/{member_id})',
    when: 'The last super administrator of the account would leave, or lose that role.',
  },
  member_taken: {
    code: 10416,
    status: 409,
    sentence: 'email is that of a member of this account already',
    pointer: '/email',
    when: 'The person is a member of the account, or invited, already.',
  },
  not_pending: {
    code: 10418,
    status: 409,
    sentence: 'This membership is accepted already',
    when: 'A membership that is accepted would be declined, or invited again.',
  },
  still_pending: {
    code: 10419,
    status: 409,
    sentence: 'This person has not accepted yet, so nothing of theirs is the business of this account',
    when: 'A person who has not accepted an invitation would be signed out.',
  },
  stale: {
    code: 10420,
    status: 412,
    sentence: 'Precondition failed: this has changed since you read it; read it again before you change it',
    when: 'The resource has changed: its etag no longer matches If-Match, or matches If-None-Match.',
  },
  response_unreadable: {
    code: 10421,
    status: 409,
    sentence:
      'This Idempotency-Key was already used, but its response can no longer be read: the key that encrypted it is lost',
    when: 'The Idempotency-Key was already used, and its response can no longer be read.',
  },
  key_used: {
    code: 10422,
    status: 422,
    sentence: 'This Idempotency-Key was already used with a different body: use a new key',
    when: 'The Idempotency-Key was already used with a different body.',
  },
  call_running: {
    code: 10425,
    status: 409,
    sentence: (ray: string) =>
      `The call ${ray} with this Idempotency-Key is still under way: send this one again later, with the same key`,
    when: 'An AI call with the same Idempotency-Key is under way.',
  },
  call_lost: {
    code: 10426,
    status: 422,
    sentence: (ray: string) =>
      `It is unknown whether the call ${ray} with this Idempotency-Key was made: the process that made it has ended. Use a new key to make it again`,
    when: 'The process that made the AI call with the same Idempotency-Key has ended.',
  },
  call_broken: {
    code: 10427,
    status: 422,
    sentence: (ray: string) =>
      `The response to the call ${ray} with this Idempotency-Key broke off. Use a new key to make it again`,
    when: 'The response to the AI call with the same Idempotency-Key broke off.',
  },
  call_response_gone: {
    code: 10421,
    status: 422,
    sentence: (ray: string) =>
      `The call ${ray} with this Idempotency-Key was made, but its response is not stored any more. Use a new key to make it again`,
    when: 'The response to the AI call with the same Idempotency-Key is not stored any more, or was too large.',
  },
  call_key_used: {
    code: 10422,
    status: 422,
    sentence:
      'This Idempotency-Key was already used for another body or endpoint, or with another credential for the provider: use a new key',
    when: 'The Idempotency-Key of an AI call was already used with another body, endpoint or credential for the provider.',
  },
  too_many_call_keys: {
    code: 10428,
    status: 503,
    sentence: (maxCount: number) =>
      `The account has made ${maxCount} calls with an Idempotency-Key in the last 24 hours, which is the most: send this one without, or later`,
    when: 'The account has made too many AI calls with an Idempotency-Key.',
  },
  too_many_keys_of_token: {
    code: 10428,
    status: 429,
    sentence: (maxCount: number) =>
      `This token, or this user of an app, has made ${maxCount} calls with an Idempotency-Key in the last 24 hours, which is the most: send this one without, or later`,
    when: 'A token, or a user of an app, has made too many AI calls with an Idempotency-Key.',
  },
  no_pages: {
    code: 10423,
    status: 409,
    sentence:
      'People have no pages here to accept an invitation on: set oauth.issuer in the configuration, or admin to a loopback address',
    when: 'A person would be invited, and the link would lead nowhere.',
  },

  // Failures that are not the caller's fault.
  internal_error: {
    code: 10500,
    status: 500,
    sentence: 'Internal error',
    when: 'An internal error; the log has the details.',
  },
  store_unreachable: {
    code: 10503,
    status: 503,
    sentence: 'The store is unreachable: check whether the change was made, then retry',
    when: 'The store is unreachable: check whether the change was made, then retry.',
  },
  store_read_only: {
    code: 10503,
    status: 503,
    sentence: 'The store refuses writes, and /readyz says why: check whether the change was made, then retry',
    when: 'Or the store refuses writes, since its disk or memory is full or it lacks replicas: `/readyz` says which.',
  },
  store_unconfirmed: {
    code: 10503,
    status: 503,
    sentence:
      'The store did not confirm this, so a change may or may not have been made: check before you repeat it, or repeat it with the same Idempotency-Key if it had one',
    when: 'Or the store did not confirm a change, which may or may not have been made: check before you repeat it, or repeat it with the same `Idempotency-Key` if it had one.',
  },
  store_busy: {
    code: 10503,
    status: 503,
    sentence: 'The store is busy and nothing was changed: retry later',
    when: 'Or the store is busy, and nothing was changed.',
  },
  store_degraded: {
    code: 10503,
    status: 503,
    sentence: (what: string, remedy: string) =>
      `No change is confirmed, since the store is not trusted: ${what}. ${remedy}`,
    when: 'Or the store responds, but is not trusted (see `/readyz`), and no change is confirmed.',
  },
  not_serving: {
    code: 10503,
    status: 503,
    sentence: 'No process of the gateway serves requests: retry later',
    when: 'Or no process of the gateway serves requests.',
  },
} as const satisfies Readonly<Record<string, Row>>

export type ApiFaultName = keyof typeof apiFaults

/** The words of a case, from which the sentence of a row is made. */
export type WordsOf<Name extends ApiFaultName> = (typeof apiFaults)[Name]['sentence'] extends (
  ...words: infer Words
) => string
  ? Words
  : []

/** Makes a fault from its row, with the pointer of the row, if any. */
export function fault<Name extends ApiFaultName>(name: Name, ...words: WordsOf<Name>): Fault {
  const { pointer }: Row = apiFaults[name]
  return faultAt(pointer ?? null, name, ...words)
}

/** Makes a fault at a member of the body (RFC 6901); null for the whole request. */
export function faultAt<Name extends ApiFaultName>(
  pointer: string | null,
  name: Name,
  ...words: WordsOf<Name>
): Fault {
  const { code, sentence }: Row = apiFaults[name]
  const message = typeof sentence === 'string' ? sentence : sentence(...(words as never[]))
  return { code, message, pointer }
}

/** Refuses an AI call by a row, with the error that has its status. */
export function refuseCall<Name extends ApiFaultName>(name: Name, ...words: WordsOf<Name>): Refusal {
  return refuse(errorOf(name), { faults: [fault(name, ...words)] })
}

/** Refuses an AI call by a row, for a member of its body (RFC 6901); null for the call as a whole. */
export function refuseCallAt<Name extends ApiFaultName>(
  pointer: string | null,
  name: Name,
  ...words: WordsOf<Name>
): Refusal {
  return refuse(errorOf(name), { faults: [faultAt(pointer, name, ...words)] })
}

function errorOf(name: ApiFaultName): ErrorName {
  const { status }: Row = apiFaults[name]
  return errorOfStatus[status] ?? 'bad_request'
}

const errorOfStatus: Readonly<Record<number, ErrorName>> = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  409: 'conflict',
  413: 'content_too_large',
  415: 'unsupported_media_type',
  422: 'unprocessable_content',
  426: 'upgrade_required',
  429: 'rate_limited',
  503: 'service_unavailable',
}
