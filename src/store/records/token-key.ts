// The key of the tags that tokens bear, so that made-up ones are refused without a lookup. It guards no secret: a token is good only if its digest is in the store.

/** The owner of the key: it belongs to no account. */
export const tokenKeyOwner = 'tokens'

/** The id of the one key of a store. */
export const tokenKeyId = 'tag'

export interface TokenKey {
  readonly account: typeof tokenKeyOwner
  readonly id: typeof tokenKeyId
  /** 256 random bits, in base64url. */
  readonly key: string
  /** How the digests of API tokens begin that have no tag of this key: those from before it, and one that the operator gave; 16 hex digits each. */
  readonly untagged: readonly string[]
  /** Ms since the epoch. */
  readonly createdAt: number
}
