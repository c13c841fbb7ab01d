// What an origin may send over HTTP/2 to keep a gateway busy: one connection's bytes each, behind the head of its first request.

import { errorCode, flag, frameType } from '../../src/http2/frames/frames.ts'
import { rstStream, uint32, windowUpdate } from './http2.ts'
import { data, frame, headers, many } from './http2-origin.ts'

const begun = [[':status', '200']] as const

/** What an origin may not send on a connection: the connection is closed, and counted by its reason. */
export const originAttacks: Readonly<
  Record<string, readonly [reason: string, bytes: (stream: number) => Buffer]>
> = {
  'PING without end': ['flood', () => many(3_000, frame(frameType.ping, 0, 0, '12345678'))],
  'SETTINGS without end': ['flood', () => many(3_000, frame(frameType.settings, 0, 0))],
  'PRIORITY without end': [
    'flood',
    stream => many(3_000, frame(frameType.priority, 0, stream, '\0\0\0\0\x01')),
  ],
  'unknown frames without end': ['flood', () => many(3_000, frame(99, 0, 0, 'x'))],
  'updates of windows without end': ['flood', () => many(3_000, windowUpdate(0, 1))],
  'DATA without bytes without end': [
    'flood',
    stream => Buffer.concat([headers(stream, begun, flag.endHeaders), many(3_000, data(stream, ''))]),
  ],
  'interim responses without end': [
    'flood',
    stream => many(3_000, headers(stream, [[':status', '103']], flag.endHeaders)),
  ],
  'RST_STREAM without end': ['flood', stream => many(3_000, rstStream(stream, errorCode.cancel))],
  'CONTINUATION without end': [
    'flood',
    stream =>
      Buffer.concat([headers(stream, begun, 0), many(3_000, frame(frameType.continuation, 0, stream))]),
  ],
  'a head of a megabyte': [
    'head_too_large',
    stream =>
      Buffer.concat([
        headers(stream, begun, 0),
        many(64, frame(frameType.continuation, 0, stream, Buffer.alloc(16_384, 'x'))),
      ]),
  ],
  'a frame for a stream that there never was': ['protocol', stream => data(stream + 2, 'x')],
  'a frame for a stream of its own': ['protocol', () => headers(2, begun)],
  'a promise': [
    'protocol',
    stream => frame(frameType.pushPromise, flag.endHeaders, stream, '\0\0\0\x02\x88'),
  ],
  'a header block that breaks the compression': [
    'compression',
    stream => frame(frameType.headers, 5, stream, '\xff\xff\xff\xff\xff\xff'),
  ],
  'a frame that is too long': [
    'frame_size',
    stream => frame(frameType.data, 0, stream, Buffer.alloc(16_385)),
  ],
  'a frame between the frames of a head': [
    'protocol',
    stream => Buffer.concat([headers(stream, begun, 0), frame(frameType.ping, 0, 0, '12345678')]),
  ],
  'a window that overflows': ['flow_control', () => windowUpdate(0, 0x7fffffff)],
  'a first window that overflows': [
    'flow_control',
    () => frame(frameType.settings, 0, 0, Buffer.concat([Buffer.from([0, 4]), uint32(0x80000000)])),
  ],
  'more than a window': [
    'flow_control',
    stream =>
      Buffer.concat([headers(stream, begun, flag.endHeaders), many(2_000, data(stream, 'x'.repeat(16_000)))]),
  ],
}
