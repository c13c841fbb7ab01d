// Mutations of traces and spans.

import type { Mutated } from './mutation.ts'

export const telemetry: readonly Mutated[] = [
  {
    file: 'edge/trace/sampling.ts',
    tests: ['edge/trace/sampling'],
    changes: [
      {
        text: 'if (threshold === null) return false',
        becomes: 'if (threshold === null) return true',
        breaks: 'a share of 0 samples everything',
      },
      {
        text: 'return digit > least',
        becomes: 'return digit < least',
        breaks: 'other traces are sampled than those that other samplers take',
      },
      {
        text: 'const from = id.length - randomDigits',
        becomes: 'const from = 0',
        breaks: 'the beginning of an id decides, which need not be random',
      },
      {
        text: '  return true\n',
        becomes: '  return false\n',
        breaks: 'a trace exactly at the threshold is not sampled',
      },
    ],
  },
  {
    file: 'edge/trace/trace.ts',
    tests: ['edge/trace/trace-lines'],
    changes: [
      {
        text: "value === null || (continues !== 'all' && !client.isTrusted)",
        becomes: 'value === null',
        breaks: 'strangers choose what is sampled',
      },
      {
        text: 'return traceFlagsOf(value) === -1 ? null : value',
        becomes: 'return value',
        breaks: 'a traceparent that is none reaches origins',
      },
      {
        text: '(traceFlagsOf(came) & traceFlag.sampled) !== 0',
        becomes: 'isSampled(x.ray, tracing)',
        breaks: 'a trace that its client samples is lost here',
      },
      {
        text: "parent === null ? '' : stateOf(head)",
        becomes: 'stateOf(head)',
        breaks: 'a new trace has the state of the one that was dropped',
      },
      {
        text: "(parseTraceState(tracestate) ?? '')",
        becomes: '(parseTraceState(tracestate) ?? tracestate)',
        breaks: 'a tracestate that cannot be read reaches origins',
      },
    ],
  },
  {
    file: 'edge/forward/trace-lines.ts',
    tests: ['edge/trace/trace-lines', 'edge/trace/request-spans'],
    changes: [
      {
        text: 'crossingLines(outgoing, false, isAtHome)',
        becomes: 'crossingLines(outgoing, true, isAtHome)',
        breaks: 'origins get two places in a trace',
      },
      {
        text: "if (requestChanges?.concerns('traceparent') || requestChanges?.concerns('tracestate'))",
        becomes: 'if (requestChanges === undefined)',
        breaks: 'what a route sets is overwritten',
      },
      {
        text: 'recording === null ? spanId : recording.begin(',
        becomes: 'recording === null ? spanId : recording === undefined ? spanId : spanId + String(',
        breaks: 'the span of an origin is no child of the attempt',
      },
    ],
  },
  {
    file: 'http1/heads/request-head.ts',
    tests: ['edge/trace/trace-lines'],
    changes: [
      {
        text: "this.traceparent === null ? value : ''",
        becomes: 'value',
        breaks: 'of two places in a trace one is believed',
      },
      {
        text: 'this.tracestate = join(this.tracestate, value)',
        becomes: 'this.tracestate = value',
        breaks: 'of several lines of tracestate only the last one goes on',
      },
    ],
  },
  {
    file: 'http1/fields/trace-context.ts',
    tests: ['http1/fields/trace-context'],
    changes: [
      {
        text: " || value.startsWith('ff')",
        becomes: '',
        breaks: 'a version that cannot be is read',
      },
      {
        text: "(!value.startsWith('00') && value.charCodeAt(wholeLength) === hyphen)",
        becomes: 'value.charCodeAt(wholeLength) === hyphen',
        breaks: 'version 00 may have more behind it',
      },
      {
        text: 'return at < to && isHex(value, at, to)',
        becomes: 'return isHex(value, at, to)',
        breaks: 'ids of zeros are taken',
      },
      {
        text: '(code < 0x61 || code > 0x66)',
        becomes: '(code < 0x41 || code > 0x66)',
        breaks: 'ids in upper case are taken',
      },
      {
        text: 'return hexValue[value.charCodeAt(54)]! & (traceFlag.sampled | traceFlag.random)',
        becomes: 'return hexValue[value.charCodeAt(54)]!',
        breaks: 'flags without a meaning go on under our name',
      },
      {
        text: 'members.length > mostMembers || keys.size < members.length',
        becomes: 'keys.size < members.length',
        breaks: 'a tracestate of any length goes on',
      },
      {
        text: 'members.length > mostMembers || keys.size < members.length',
        becomes: 'members.length > mostMembers',
        breaks: 'a tracestate with one key twice goes on',
      },
    ],
  },
  {
    file: 'edge/spans/request-spans.ts',
    tests: ['edge/trace/request-spans'],
    changes: [
      {
        text: 'return withoutQuery(target).slice(0, longestPath)',
        becomes: 'return target.slice(0, longestPath)',
        breaks: 'spans have queries, and the secrets in them',
      },
    ],
  },
  {
    file: 'telemetry/span-exporter.ts',
    tests: ['telemetry/exporters'],
    changes: [
      {
        text: 'this.#queue.length < queue',
        becomes: 'queue > 0',
        breaks: 'spans fill the memory while their collector is unreachable',
      },
    ],
  },
  {
    file: 'telemetry/span-message.ts',
    tests: ['telemetry/span-message'],
    changes: [
      {
        text: 'parentId !== null && isParentRemote',
        becomes: 'isParentRemote',
        breaks: 'the first span of a trace has a parent elsewhere',
      },
      {
        text: 'span.name.toWellFormed()',
        becomes: 'span.name',
        breaks: 'half a surrogate pair in the name of a model spoils a batch',
      },
    ],
  },
  {
    file: 'telemetry/otlp.ts',
    tests: ['telemetry/span-message'],
    changes: [
      {
        text: 'value.toWellFormed()',
        becomes: 'value',
        breaks: 'half a surrogate pair in an attribute spoils a batch',
      },
    ],
  },
]
