case when octet_length({row}.payload) <= 67108864 then {row}.payload else substr({row}.payload, 1, 67108865) end
