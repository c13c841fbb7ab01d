// `node bench/trials/upgrade.ts [SECONDS] [WORKERS]`: ten reloads, two upgrades and five killed workers within 30 s of load of every kind, or as many as are given. Prints
// what clients noticed; exits with 1 where a request failed that no killed worker held.

import { runTrial } from '../../test/help/upgrade-trial.ts'

const [seconds = 30, workers = 2] = process.argv.slice(2).map(Number)
const round = ['reload', 'reload', 'kill', 'reload'] as const
const kills = workers === 0 ? [] : (['kill'] as const)
const deeds = [...round, ...kills, 'upgrade', ...round, 'reload', ...kills, ...round, 'upgrade'] as const
const plan = [...deeds].filter(deed => workers > 0 || deed !== 'kill')

const { counts, failures, lost, metrics, upgrades } = await runTrial({
  workers,
  pause: (seconds * 1000) / (plan.length + 1),
  deeds: plan,
  clients: 4,
})
console.log('deeds:', plan.join(', '))
console.log('requests that succeeded:', counts)
console.log('ms until the next gateway served:', upgrades.map(Math.round).join(', '))
console.log('failed with the worker that was killed:', lost)
console.log('failed otherwise:', failures.length, failures.slice(0, 20))
console.log(
  metrics
    .match(
      /^gatehouse_(?:requests_total\{zone="site",status_class="2xx"|config_reloads|upgrades|worker_restarts).*$/gm,
    )
    ?.join('\n'),
)
process.exit(failures.length > 0 ? 1 : 0)
