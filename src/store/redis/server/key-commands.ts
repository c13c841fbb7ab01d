// The commands of scripts, and those on keys that the store runs itself, with how many arguments each takes.

const byArguments = [
  'time',
  'del exists get hkeys hlen hvals pttl unlink zcard zpopmin',
  'hdel hexists hget hmget incrby lpush pexpire pexpireat set zrank zrem zscan',
  'hincrby hset hsetnx lrange ltrim xrange xrevrange zadd zcount zlexcount zrange zrangebylex zrangebyscore zrevrange',
  'xadd',
]

/**
 * The fewest arguments of each command, the key included, by its name in alphabetical order. A server that is
 * asked whether a user may run a command does not know it with another number.
 */
export const argumentCounts: ReadonlyMap<string, number> = new Map(
  byArguments
    .flatMap((names, count) => names.split(' ').map(name => [name, count] as const))
    .sort(([one], [other]) => (one < other ? -1 : 1)),
)
