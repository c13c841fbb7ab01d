// The key of the tags in tokens, which let made-up tokens be refused without a lookup. It protects no secret:
// a token is valid only if its digest is in the store.

export const tokenKeyOwner = 'tokens'

/** The id of the one key of a store. */
export const tokenKeyId = 'tag'

export interface TokenKey {
  readonly account: typeof tokenKeyOwner
  readonly id: typeof tokenKeyId
  /** 256 random bits, in base64url. */
  readonly key: string
  /**
   * Prefixes (16 hex digits each) of the digests of API tokens without a tag of this key: those that are
   * older than the key, and one that the operator provided.
   */
  readonly untagged: readonly string[]
  readonly createdAt: number
}
