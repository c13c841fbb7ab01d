// Why a passkey did not sign in, in words.

/** The same for a passkey that nobody has and one that did not sign: it tells nothing of others. */
export const passkeyTroubles = {
  refused: 'This passkey opens nothing here. Use another one, or another way to sign in.',
  expired: 'That took too long, or was done in another tab. Try again.',
  old_counter:
    'This passkey was refused: somebody may have copied it, since its counter went back. Sign in in another way, remove it, and tell your administrator.',
} as const
