case when octet_length({row}.key) <= 1024 then {row}.key else left({row}.key, 1025) end
