-- What wrk sends in each mix, and its result as one line of JSON. Called as: wrk -s mix.lua URL -- MIX [BODY [TOKENS FIRST]],
-- or with the file of its requests as: wrk -s mix.lua URL -- soak FILE, or turns BODY FILE
-- In mixes of chats the URL and -H hold where a chat goes and what it shows, and BODY what it says.

local function send(method, path, body, accept)
  local headers = { ['User-Agent'] = 'wrk', ['Accept'] = accept or 'application/json' }
  if body then headers['Content-Type'] = 'application/json' end
  for name, value in pairs(wrk.headers) do headers[name] = value end
  return wrk.format(method, path, headers, body)
end

local function document(length)
  return '{"text":"' .. string.rep('x', length - 11) .. '"}'
end

local function inTurn(requests)
  local turn = 0
  return function()
    turn = turn % #requests + 1
    return requests[turn]
  end
end

local function chat(body)
  return inTurn({ wrk.format('POST', nil, nil, body) })
end

local function chatWithEach(body, path, first)
  local before, after = wrk.format('POST', nil, nil, body):match('^(.-)TOKEN(.*)$')
  local tokens = {}
  for token in io.lines(path) do tokens[#tokens + 1] = token end
  local turn = tonumber(first)
  return function()
    turn = turn % #tokens + 1
    return before .. tokens[turn] .. after
  end
end

local function eachOf(path)
  local requests = {}
  for text in io.open(path, 'rb'):read('*a'):gmatch('[^%z]+') do requests[#requests + 1] = text end
  return inTurn(requests)
end

local function get()
  return inTurn({ send('GET', '/') })
end

local function fromFile(_, path)
  return eachOf(path)
end

-- Where COUNTER names a file, every request counts up the double in it, which another process may read at any time.
local function counter()
  local path = os.getenv('COUNTER')
  if not path then return { [0] = 0 } end
  local ffi = require('ffi')
  ffi.cdef('int open(const char *path, int flags); void *mmap(void *at, size_t length, int protection, int flags, int file, long offset);')
  local readAndWrite, shared = 3, 1
  local file = ffi.C.open(path, 2)
  if file < 0 then error('cannot open ' .. path) end
  return ffi.cast('double *', ffi.C.mmap(nil, 8, readAndWrite, shared, file, 0))
end

local mixes = {
  get = get,
  log = get,
  tls = get,
  workers = get,
  rules = get,
  refused = get,
  post = function() return inTurn({ send('POST', '/', document(60)) }) end,
  mixed = function()
    return inTurn({ send('GET', '/'), send('POST', '/', document(60)), send('GET', '/missing') })
  end,
  download = function() return inTurn({ send('GET', '/mebibyte') }) end,
  upload = function() return inTurn({ send('POST', '/', document(2 ^ 20)) }) end,
  down = function()
    return inTurn({ send('GET', '/'), send('GET', '/', nil, 'text/markdown'), send('GET', '/', nil, 'text/html') })
  end,
  chat = chat,
  eight = chat,
  alias = chat,
  missing = chat,
  unknown = chatWithEach,
  revoked = chatWithEach,
  soak = eachOf,
  turns = fromFile,
  client = function() return inTurn({ wrk.format('GET') }) end,
}

local nextRequest, count

function init(args)
  count = counter()
  nextRequest = mixes[args[1]](args[2], args[3], args[4])
end

function request()
  count[0] = count[0] + 1
  return nextRequest()
end

function done(summary, latency)
  local errors = summary.errors
  print(string.format(
    '{"requests":%d,"duration":%d,"p50":%d,"p99":%d,"status":%d,"connect":%d,"read":%d,"write":%d,"timeout":%d}',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    errors.status, errors.connect, errors.read, errors.write, errors.timeout))
end
