// Signs batches as Standard Webhooks does (https://www.standardwebhooks.com), with field names of our own.

import { createHmac } from 'node:crypto'

interface Signed {
  readonly id: string
  /** Seconds since the epoch. */
  readonly timestamp: number
  /** As it is sent: compressed. */
  readonly body: Buffer
}

/** Returns the fields of a batch, with a signature for each secret: receivers may change theirs. */
export function signatureFields(signed: Signed, secrets: readonly Buffer[]): Record<string, string> {
  const { id, timestamp } = signed
  const signature = secrets.map(secret => `v1,${sign(signed, secret)}`).join(' ')
  return {
    'svc-export-id': id,
    'svc-export-timestamp': `${timestamp}`,
    ...(secrets.length > 0 && { 'svc-export-signature': signature }),
  }
}

function sign({ id, timestamp, body }: Signed, secret: Buffer): string {
  return createHmac('sha256', secret).update(`${id}.${timestamp}.`).update(body).digest('base64')
}
