// Idempotency-Key: a repeated request gets the response of the first, for a day.

import { hash } from 'node:crypto'
import type { StoredResponse } from '../../store/records/records.ts'
import { type ApiResponse, failure } from '../http/envelope.ts'
import type { Api, Call } from './api-types.ts'

/** The response, to be written together with its changes; empty if the request has no key. */
type Keep = (response: ApiResponse) => { readonly response?: StoredResponse }

const lifetime = 24 * 60 * 60_000

/**
 * Returns the stored response for the key of the request, or makes one; `make` returns null when another
 * write came between. `request` tells apart the requests of one caller.
 */
export async function once(
  call: Call,
  api: Api,
  request: readonly string[],
  make: (keep: Keep) => Promise<ApiResponse | null>,
): Promise<ApiResponse> {
  const { idempotencyKey, account, caller, bytes, now } = call
  if (idempotencyKey !== null && !printable.test(idempotencyKey)) return malformed
  const key = sha256(JSON.stringify([caller.id, account, ...request, idempotencyKey]))
  const fingerprint = sha256(bytes ?? '')
  const keep: Keep = response => {
    if (idempotencyKey === null) return {}
    const sealed = api.secrets.seal(JSON.stringify(response), key)
    return { response: { account, key, fingerprint, sealed, expiresAt: now + lifetime } }
  }
  const find = async () => {
    const current = idempotencyKey === null ? null : await api.store.responses.get(account, key)
    return current && (current.fingerprint === fingerprint ? replay(current, api) : otherBody)
  }
  for (;;) {
    const response = await find()
    if (response) return response
    const made = await make(keep)
    if (made?.status === 200) return made
    // The conflict may stem from the same request a moment ago.
    if (made) return (await find()) ?? made
  }
}

function replay({ sealed, key }: StoredResponse, { secrets }: Api): ApiResponse {
  const text = secrets.unseal(sealed, key)
  if (text === null) return unreadable
  const { status, headers, body } = JSON.parse(text) as ApiResponse
  return { status, headers: { ...headers, 'idempotency-replayed': 'true' }, body }
}

function sha256(text: string | Buffer): string {
  return hash('sha256', text)
}

const printable = /^[\x20-\x7e]{1,255}$/

const malformed = failure(
  'invalid',
  'Idempotency-Key',
  'must be given once, as 1 to 255 printable ASCII characters',
)
const otherBody = failure('key_used')
const unreadable = failure('response_unreadable')
