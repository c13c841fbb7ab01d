// The load bench, run by `npm run bench`: Gatehouse and its peers behind the same origin and load, as ratios to nginx.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { beAlone } from './alone.ts'
import { collect } from './collect.ts'
import { commandVersion, ROOT } from './installed.ts'
import { type Options, parseOptions, USAGE } from './options.ts'
import { launchOrigin, PEERS } from './peers.ts'
import { stopRedisServer } from './redis-server.ts'
import { report } from './report.ts'
import { add, save } from './save.ts'

const options = parseOptions(
  process.argv.slice(2),
  PEERS.map(peer => peer.name),
)
if (typeof options === 'string') exit(`${options}\n${USAGE}`)
else if (process.platform !== 'linux') exit('The bench reads /proc and runs on Linux only.')
else if (commandVersion('wrk', ['-v']) === null)
  exit('The bench drives its load with wrk, which is not installed.')
else await bench(options)

async function bench(options: Options): Promise<void> {
  await beAlone()
  // What is measured is what is shipped: the launcher starts what was built last.
  execFileSync(process.execPath, [join(ROOT, 'build/package.ts')])
  const origin = await launchOrigin()
  const results = await collect(options, origin.port)
  await origin.stop()
  await stopRedisServer()
  console.log(options.json ? JSON.stringify(results, null, 2) : report(results))
  if (options.complete) save(ROOT, results)
  else if (options.add) add(ROOT, results)
}

function exit(message: string): never {
  console.error(message)
  process.exit(2)
}
