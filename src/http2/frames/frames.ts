// The numbers of HTTP/2 (RFC 9113 sections 6, 7 and 6.5.2; RFC 8441; RFC 9218).

export const frameType = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
  priorityUpdate: 16,
} as const

export const flag = { endStream: 1, ack: 1, endHeaders: 4, padded: 8, priority: 32 } as const

export const errorCode = {
  none: 0,
  protocol: 1,
  internal: 2,
  flowControl: 3,
  settingsTimeout: 4,
  streamClosed: 5,
  frameSize: 6,
  refusedStream: 7,
  cancel: 8,
  compression: 9,
  connect: 10,
  enhanceYourCalm: 11,
  inadequateSecurity: 12,
  http11Required: 13,
} as const

/** One of `errorCode`; a peer may send any other number of 32 bits. */
export type ErrorCode = number

export const setting = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
  enableConnectProtocol: 8,
  noRfc7540Priorities: 9,
} as const
