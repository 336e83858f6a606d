-- Posts one task after the other, each with a key that nobody used before: wrk ... -- <prefix> [<access key>].
-- None is due before the load has ended: nothing is sent to anybody.
local count = 0
local before = '{"targetUrl":"https://api.example/charge","method":"POST","delayMs":86400000,'
  .. '"headers":{"content-type":"application/json"},'
  .. '"body":"{\\"amount\\":100,\\"filler\\":\\"' .. string.rep('x', 211) .. '\\"}","idempotencyKey":"'

function init(args)
  wrk.method = 'POST'
  wrk.headers['content-type'] = 'application/json'
  if args[2] and args[2] ~= '' then wrk.headers['authorization'] = 'Bearer ' .. args[2] end
  before = before .. args[1] .. '-'
end

function request()
  count = count + 1
  return wrk.format(nil, nil, nil, before .. count .. '"}')
end
