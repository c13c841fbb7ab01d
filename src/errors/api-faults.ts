// What is wrong with the call of an API, row by row: its number, its status, its sentence, and when it happens. Numbers stand here and nowhere else.

import type { ErrorName } from './catalogue.ts'
import { type Fault, type Refusal, refuse } from './refusal.ts'

interface Row {
  /** 4 or 5 digits, which callers know the fault by; rows may share one. */
  readonly code: number
  readonly status: number
  /** A sentence, or what makes it of the words of a case. */
  readonly sentence: string | ((...words: never[]) => string)
  /** The member of the body that is always to blame (RFC 6901). */
  readonly pointer?: string
  /** When it happens, for the documentation. */
  readonly when: string
}

/** Makes the sentence of what breaks a rule: a place, and words that follow its name. */
const placed = (place: string, rule: string) => `${place} ${rule}`

export const apiFaults = {
  // Members, parameters and fields of a request.
  invalid: { code: 10001, status: 400, sentence: placed, when: 'Something breaks a rule.' },
  missing: { code: 10002, status: 400, sentence: placed, when: 'A member is missing.' },
  unknown: { code: 10003, status: 400, sentence: placed, when: 'A member or parameter is not known here.' },
  repeated: { code: 10004, status: 400, sentence: placed, when: 'Something comes twice.' },
  owned: { code: 10005, status: 400, sentence: placed, when: 'A member is one that only the server sets.' },

  // Bodies as a whole, and bytes that are no request.
  unreadable_body: {
    code: 6003,
    status: 400,
    sentence: (form: string) => `The body is not ${form}`,
    when: 'The body can not be read.',
  },
  no_json_object: {
    code: 6003,
    status: 400,
    sentence: 'The body must be a JSON object in UTF-8',
    when: 'The body of an AI call is something else.',
  },
  no_request: {
    code: 6003,
    status: 400,
    sentence: 'This is not a valid HTTP/1.1 request',
    when: 'Bytes are no request.',
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
    sentence: (most: number) => `The header section is larger than ${most} bytes`,
    when: 'The header section is too large.',
  },
  wrong_type: {
    code: 6004,
    status: 415,
    sentence: (type: string) => `The Content-Type must be ${type}`,
    when: 'The body is of another type.',
  },
  no_plain_json: {
    code: 6004,
    status: 415,
    sentence: 'The body must be JSON: Content-Type: application/json, without Content-Encoding',
    when: 'The body of an AI call is of another type, or encoded.',
  },
  too_large: {
    code: 6005,
    status: 413,
    sentence: (most: number) => `The body is larger than ${most} bytes`,
    when: 'The body is too large.',
  },
  call_too_large: {
    code: 6005,
    status: 413,
    sentence: (size: string) => `The body must have at most ${size}`,
    when: 'The body of an AI call is too large.',
  },

  // Paths, and what they name.
  method_not_allowed: {
    code: 7001,
    status: 405,
    sentence: (allow: string) => `Method not allowed; allowed: ${allow}`,
    when: 'The path does not have the method.',
  },
  no_route: {
    code: 7003,
    status: 404,
    sentence: (path: string) => `No route for ${path}`,
    when: 'There is no such path.',
  },
  bad_path_encoding: {
    code: 7003,
    status: 404,
    sentence: 'The path is not valid percent-encoding',
    when: 'A name in the path can not be read.',
  },
  no_such: {
    code: 7003,
    status: 404,
    sentence: (thing: string) => `There is no such ${thing}`,
    when: 'There is nothing of this name.',
  },
  no_zone: {
    code: 7003,
    status: 404,
    sentence: 'There is no such zone, or it is not of an account that this token may ask for',
    when: 'There is no such zone for the token.',
  },
  no_error: {
    code: 7003,
    status: 404,
    sentence: (code: string) => `There is no error ${code}`,
    when: 'The catalogue of errors has no such code.',
  },
  no_page_type: {
    code: 7003,
    status: 404,
    sentence: (types: string) => `There is no error page of such a type; there are ${types}`,
    when: 'Error pages have no such type.',
  },
  no_page: {
    code: 7003,
    status: 404,
    sentence: 'There is no error page of this type set',
    when: 'No error page of the type is set.',
  },
  no_payload: {
    code: 7003,
    status: 404,
    sentence: 'This body was not kept',
    when: 'The log has not kept the body.',
  },
  not_stopping: {
    code: 7003,
    status: 409,
    sentence: 'This gateway is not stopping',
    when: 'The side port is asked for of a gateway that goes on.',
  },
  no_ai_route: {
    code: 7003,
    status: 404,
    sentence: 'This path is no route of an AI gateway',
    when: 'The path of an AI call is none.',
  },
  no_gateway: {
    code: 7003,
    status: 404,
    sentence: 'There is no gateway of this name',
    when: 'An AI call names a gateway that does not exist.',
  },
  no_provider: {
    code: 7003,
    status: 404,
    sentence: (name: string) => `There is no provider with the name ${name}`,
    when: 'An AI call names a provider that is not known.',
  },
  no_resource: {
    code: 7003,
    status: 404,
    sentence: (provider: string) =>
      `The path must go on with one of the resources that the configuration lists for ${provider}`,
    when: 'An AI call names a resource of a provider that is not known.',
  },
  no_model: {
    code: 7003,
    status: 404,
    sentence: (model: string) =>
      `There is no model ${JSON.stringify(model)}: models are named AUTHOR/MODEL, such as openai/gpt-4o`,
    when: 'An AI call names a model that no provider has.',
  },

  // Who asks, and how much.
  unauthorized: {
    code: 10000,
    status: 401,
    sentence: 'Authentication error',
    when: 'There is no token, or it is not valid.',
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
    sentence: (need: string) => `Forbidden: this needs ${need}`,
    when: 'The token does not allow this on the account, or on that of the zone.',
  },
  call_forbidden: {
    code: 10000,
    status: 403,
    sentence: 'Forbidden: the token needs the permission AI Gateway Run on this account',
    when: 'The token does not allow AI calls.',
  },
  native_forbidden: {
    code: 2009,
    status: 403,
    sentence: 'Forbidden: the token needs the permission AI Gateway Run on this account',
    when: 'The token does not allow provider-native calls.',
  },
  beyond_token: {
    code: 10000,
    status: 403,
    sentence: (rule: string) => `Forbidden: ${rule}`,
    when: 'A token is to get more than the one that asks has itself.',
  },
  too_many_changes: {
    code: 10429,
    status: 429,
    sentence: 'This token has asked for too many changes: wait as long as Retry-After says',
    when: 'The token has asked for too many changes: what reads is not counted.',
  },

  // What is kept, and what stands in the way of changing it.
  gateway_taken: {
    code: 10001,
    status: 409,
    sentence: 'id is that of another gateway',
    pointer: '/id',
    when: 'There is a gateway of this id.',
  },
  two_secrets: {
    code: 10409,
    status: 409,
    sentence: 'The client has two secrets: drop the old one (DELETE rotate_secret) before you make another',
    when: 'There are two secrets: delete the older one first.',
  },
  no_secrets: {
    code: 10410,
    status: 400,
    sentence: 'The client has no secrets to rotate, since its token_endpoint_auth_method is none',
    when: 'The client has no secrets.',
  },
  one_secret: {
    code: 10411,
    status: 404,
    sentence: 'The client has no old secret to drop',
    when: 'There are no two secrets.',
  },
  not_ready_for_public: {
    code: 10412,
    status: 400,
    sentence: (lack: string) => lack,
    when: 'Something is missing before the client can be public.',
  },
  host_verified: {
    code: 10413,
    status: 400,
    sentence: 'client_uri must stay at the host that is verified; its path may change',
    pointer: '/client_uri',
    when: 'The host of a public client would change.',
  },
  public_for_ever: {
    code: 10413,
    status: 400,
    sentence: 'visibility can not go back to private: a public client stays public',
    pointer: '/visibility',
    when: 'A public client would become private.',
  },
  uri_for_ever: {
    code: 10413,
    status: 400,
    sentence: 'client_uri can not be removed from a public client',
    pointer: '/client_uri',
    when: 'A public client would lose its client_uri.',
  },
  too_many_rules: {
    code: 10414,
    status: 409,
    sentence: (most: number) => `The zone has ${most} rules of this kind already: delete one first`,
    when: 'The zone has as many rules as it may.',
  },
  stale: {
    code: 10420,
    status: 412,
    sentence: 'Precondition failed: this was changed since you read it; read it again, then decide anew',
    when: 'What is to be changed has another etag by now.',
  },
  answer_unreadable: {
    code: 10421,
    status: 409,
    sentence:
      'This was done before, under this Idempotency-Key, but the server key that sealed its answer is gone',
    when: 'It was done before, and its answer can no longer be read.',
  },
  key_used: {
    code: 10422,
    status: 422,
    sentence: 'This Idempotency-Key was sent before, with another body: take a new key',
    when: 'The Idempotency-Key came with another body before.',
  },

  // What no caller is to blame for.
  internal_error: {
    code: 10500,
    status: 500,
    sentence: 'Internal error',
    when: 'The gateway made a mistake, and has written it to its log.',
  },
  store_away: {
    code: 10503,
    status: 503,
    sentence: 'The store is away: ask again later, and look first whether a change was made',
    when: 'The store is away: look first whether a change was made, then ask again.',
  },
  store_busy: {
    code: 10503,
    status: 503,
    sentence: 'The store is busy: nothing was changed; ask again later',
    when: 'Or it is busy: nothing was changed.',
  },
} as const satisfies Readonly<Record<string, Row>>

export type ApiFaultName = keyof typeof apiFaults

/** The words of a case that the sentence of a row is made of. */
export type WordsOf<Name extends ApiFaultName> = (typeof apiFaults)[Name]['sentence'] extends (
  ...words: infer Words
) => string
  ? Words
  : []

/** Makes a fault of its row; it points where the row does, or at nothing. */
export function fault<Name extends ApiFaultName>(name: Name, ...words: WordsOf<Name>): Fault {
  const { pointer }: Row = apiFaults[name]
  return faultAt(pointer ?? null, name, ...words)
}

/** Makes a fault of its row that points at a member of the body (RFC 6901); null for the request as a whole. */
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
  return ERROR_OF_STATUS[status] ?? 'bad_request'
}

const ERROR_OF_STATUS: Readonly<Record<number, ErrorName>> = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  413: 'content_too_large',
  415: 'unsupported_media_type',
}
