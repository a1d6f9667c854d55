{settle} where {alive} and {wanted}
