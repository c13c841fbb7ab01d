import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { RouteConfig, ZoneConfig } from '../../src/config/model/config.ts'
import { pathReadings } from '../../src/base/path/path-readings.ts'
import { compileZones } from '../../src/zones/zone.ts'
import { zoneTo } from '../help/edge.ts'

test('compiles zones to a lookup by host, each with its routes, and the default zone for all other hosts', () => {
  const shop = zone({
    name: 'shop',
    hosts: ['shop.example', '*.shop.example'],
    routes: [route('/'), route('/cart')],
  })
  const rest = zone({ name: 'rest', isDefault: true })
  const zones = compileZones(
    [shop, rest],
    (config, zone) => ({ config, label: `${zone.name}${config.path}` }),
    zone => zone,
  )
  equal(zones.find('shop.example')?.config, shop)
  const cart = zones.find('eu.shop.example')?.routes.find(pathReadings('/cart/1'))
  equal(typeof cart === 'object' && cart?.label, 'shop/cart')
  equal(zones.find('elsewhere.example')?.config, rest)
  equal(zones.find('elsewhere.example')?.routes.find(pathReadings('/')), null)
})

test('finds no zone for an unknown host when none is the default', () => {
  const zones = compileZones(
    [zone({ hosts: ['a.example'] })],
    config => ({ config }),
    zone => zone,
  )
  equal(zones.find('b.example'), null)
})

function zone(members: Partial<ZoneConfig>): ZoneConfig {
  return { ...zoneTo([]), name: 'zone', hosts: [], routes: [], ...members }
}

function route(path: string): RouteConfig {
  const timeouts = { connect: 0, handshake: 0, response: 0, write: 0, idle: 0, total: 0 }
  return { ...zoneTo([]).routes[0]!, path, pool: null, timeouts }
}
