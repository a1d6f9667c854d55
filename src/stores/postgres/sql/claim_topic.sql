case when octet_length({row}.topic) <= 255 then {row}.topic else left({row}.topic, 256) end
