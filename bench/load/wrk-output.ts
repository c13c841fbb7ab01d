// Reads what mix.lua prints at the end of a run of wrk, for drive.ts.

export interface Load {
  readonly requests: number
  readonly seconds: number
  /** Latency in milliseconds. */
  readonly p50: number
  readonly p99: number
  /** Answers with a status of 400 or more. */
  readonly refused: number
  /** Connections, reads and writes that failed. */
  readonly broken: number
  /** Responses that took longer than the driver allows. */
  readonly late: number
}

/** Reads the line of JSON in the output of wrk; throws when there is none or a number is missing. */
export function parseLoad(output: string): Load {
  const line = output.split('\n').find(line => line.startsWith('{"requests":'))
  if (line === undefined) throw new Error(`wrk printed no result: ${output.trim()}`)
  const result = numbers(JSON.parse(line))
  return {
    requests: result('requests'),
    seconds: result('duration') / 1e6,
    p50: result('p50') / 1e3,
    p99: result('p99') / 1e3,
    refused: result('status'),
    broken: result('connect') + result('read') + result('write'),
    late: result('timeout'),
  }
}

function numbers(result: Record<string, unknown>): (name: string) => number {
  return name => {
    const value = result[name]
    if (typeof value !== 'number') throw new Error(`the result of wrk has no number ${name}`)
    return value
  }
}
