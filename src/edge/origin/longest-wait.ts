// How long a request may have to wait for a connection: the sum of the timeouts.

import type { OriginConfig, Timeouts } from '../../config/model/config.ts'

/** Ms beyond those timeouts, so that they expire first and name the cause. */
const grace = 500

/** 0 for none; uploads have two queues. */
export function maxWait(
  { protocol, transport }: OriginConfig,
  { connect, handshake }: Timeouts,
  isUpload: boolean,
): number {
  const isTls = protocol === 'https'
  const hasQueue = transport.connections > 0
  const queue = hasQueue ? transport.queue.timeout : 0
  const isEndless = connect === 0 || (isTls && handshake === 0) || (queue === 0 && hasQueue)
  return isEndless ? 0 : (isUpload ? 2 * queue : queue) + connect + (isTls ? handshake : 0) + grace
}
