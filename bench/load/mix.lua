-- What wrk sends in each mix, and its result as one line of JSON. Called as: wrk -s mix.lua URL -- MIX

local function send(method, path, body, accept)
  local headers = { ['User-Agent'] = 'wrk', ['Accept'] = accept or 'application/json' }
  if body then headers['Content-Type'] = 'application/json' end
  return wrk.format(method, path, headers, body)
end

local function document(length)
  return '{"text":"' .. string.rep('x', length - 11) .. '"}'
end

local mixes = {
  get = function() return { send('GET', '/') } end,
  post = function() return { send('POST', '/', document(60)) } end,
  mixed = function() return { send('GET', '/'), send('POST', '/', document(60)), send('GET', '/missing') } end,
  body1m = function() return { send('GET', '/mebibyte'), send('POST', '/', document(2 ^ 20)) } end,
  down = function()
    return { send('GET', '/'), send('GET', '/', nil, 'text/markdown'), send('GET', '/', nil, 'text/html') }
  end,
}

local requests
local turn = 0

function init(args)
  requests = mixes[args[1]]()
end

function request()
  turn = turn % #requests + 1
  return requests[turn]
end

function done(summary, latency)
  local errors = summary.errors
  print(string.format(
    '{"requests":%d,"duration":%d,"p50":%d,"p99":%d,"status":%d,"connect":%d,"read":%d,"write":%d,"timeout":%d}',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    errors.status, errors.connect, errors.read, errors.write, errors.timeout))
end
