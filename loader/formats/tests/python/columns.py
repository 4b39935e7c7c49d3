"""Tables by column: parquet, and files of Arrow."""

import datetime
import decimal
import random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

UTC = datetime.timezone.utc


def is_number(of):
    return pa.types.is_integer(of) or pa.types.is_floating(of) or pa.types.is_boolean(of)


def is_list(of):
    return pa.types.is_list(of) or pa.types.is_large_list(of) or pa.types.is_fixed_size_list(of)


def cell(value, of):
    """A value as samples have it: lists of numbers as arrays, points in time as texts, decimals as floats."""
    if value is None:
        return None
    if pa.types.is_dictionary(of) or pa.types.is_run_end_encoded(of):
        return cell(value, of.value_type)
    if is_list(of):
        if is_number(of.value_type) and None not in value:
            return np.array(value, dtype=of.value_type.to_pandas_dtype())
        return [cell(item, of.value_type) for item in value]
    if pa.types.is_struct(of):
        return {of.field(i).name: cell(value[of.field(i).name], of.field(i).type) for i in range(of.num_fields)}
    if pa.types.is_map(of):
        return [(cell(key, of.key_type), cell(item, of.item_type)) for key, item in value]
    if pa.types.is_timestamp(of):
        if of.tz:
            value = value.astimezone(UTC)
        return value.isoformat()
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return float(value)
    if isinstance(value, np.generic):
        return value.item()
    return value


def rows_of(table):
    columns = {name: [cell(v, table.schema.field(name).type) for v in table[name].to_pylist()] for name in table.column_names}
    return [{name: column[i] for name, column in columns.items()} for i in range(table.num_rows)]


def column(rng, of, count, nulls=True):
    def value():
        if nulls and rng.random() < 0.15:
            return None
        if pa.types.is_boolean(of):
            return rng.random() < 0.5
        if pa.types.is_integer(of):
            bits = of.bit_width
            low, high = (0, 2**bits - 1) if pa.types.is_unsigned_integer(of) else (-2**(bits - 1), 2**(bits - 1) - 1)
            return rng.choice([low, high, rng.randint(low, high)])
        if pa.types.is_float16(of):
            return np.float16(rng.random())
        if pa.types.is_floating(of):
            return rng.choice([0.0, -0.0, float("inf"), rng.random() * 10.0 ** rng.randrange(-20, 20)])
        if pa.types.is_fixed_size_binary(of):
            return rng.randbytes(of.byte_width)
        if pa.types.is_binary(of) or pa.types.is_large_binary(of) or of == pa.binary_view():
            return rng.randbytes(rng.randrange(20))
        if pa.types.is_string(of) or pa.types.is_large_string(of) or of == pa.string_view():
            return rng.choice(["", "a", "ä€😀", "two\nlines", "x" * rng.randrange(50)])
        if pa.types.is_timestamp(of):
            fraction = {"s": 0, "ms": 500_000, "us": 1, "ns": 123_456}[of.unit]
            moment = datetime.datetime(rng.randrange(1950, 2100), 2, 3, 4, 5, 6, rng.choice([0, fraction]))
            return moment.replace(tzinfo=UTC) if of.tz else moment
        if pa.types.is_date(of):
            return datetime.date(rng.randrange(1900, 2100), 12, 31)
        if pa.types.is_time(of):
            return datetime.time(rng.randrange(24), 5, 6, 0 if of == pa.time32("s") else 7000)
        if pa.types.is_decimal(of):
            return decimal.Decimal(rng.randrange(-10**8, 10**8)).scaleb(-of.scale)
        if pa.types.is_dictionary(of):
            return rng.choice(["red", "green", "blue"])
        if pa.types.is_fixed_size_list(of):
            return column(rng, of.value_type, of.list_size, nulls=False)
        if is_list(of):
            return column(rng, of.value_type, rng.randrange(5), nulls=rng.random() < 0.3)
        if pa.types.is_struct(of):
            return {of.field(i).name: column(rng, of.field(i).type, 1)[0] for i in range(of.num_fields)}
        if pa.types.is_map(of):
            return [(f"k{i}", column(rng, of.item_type, 1)[0]) for i in range(rng.randrange(4))]
        assert pa.types.is_null(of), of
        return None
    return [value() for _ in range(count)]


TYPES = {
    "bool": pa.bool_(), "i8": pa.int8(), "i16": pa.int16(), "i32": pa.int32(), "i64": pa.int64(), "u8": pa.uint8(), "u16": pa.uint16(),
    "u32": pa.uint32(), "u64": pa.uint64(), "f16": pa.float16(), "f32": pa.float32(), "f64": pa.float64(), "text": pa.string(),
    "large_text": pa.large_string(), "bytes": pa.binary(), "large_bytes": pa.large_binary(), "four": pa.binary(4),
    "s": pa.timestamp("s"), "ms": pa.timestamp("ms"), "us": pa.timestamp("us"), "ns": pa.timestamp("ns"),
    "zone": pa.timestamp("us", tz="Europe/Berlin"), "date": pa.date32(), "date64": pa.date64(), "time": pa.time32("s"),
    "time_ms": pa.time32("ms"), "time_us": pa.time64("us"), "decimal": pa.decimal128(12, 3), "color": pa.dictionary(pa.int32(), pa.string()),
    "list": pa.list_(pa.int64()), "lists": pa.list_(pa.list_(pa.float32())), "large_list": pa.large_list(pa.uint8()),
    "three": pa.list_(pa.float64(), 3), "words": pa.list_(pa.string()), "bools": pa.list_(pa.bool_()),
    "struct": pa.struct([("a", pa.int32()), ("b", pa.list_(pa.string())), ("c", pa.struct([("d", pa.float32())]))]),
    "structs": pa.list_(pa.struct([("a", pa.int64()), ("b", pa.string())])), "map": pa.map_(pa.string(), pa.int64()), "null": pa.null(),
}
ONLY_ARROW = {
    "view": pa.string_view(), "bytes_view": pa.binary_view(), "small_keys": pa.dictionary(pa.int8(), pa.string()),
    "wide_keys": pa.dictionary(pa.uint64(), pa.string()),
}


def table(rng, count, types):
    fields = {name: pa.array(column(rng, of, count), of) for name, of in types.items()}
    return pa.table(fields)


def make_parquet_types(maker):
    rng = random.Random(7)
    data = table(rng, 137, {name: of for name, of in TYPES.items() if name not in ("s", "date64")})
    for name, options in {
        "plain": {"compression": "none", "use_dictionary": False}, "snappy": {"compression": "snappy"}, "zstd": {"compression": "zstd"},
        "gzip": {"compression": "gzip"}, "lz4": {"compression": "lz4"}, "v2": {"data_page_version": "2.0", "compression": "zstd"},
        "groups": {"row_group_size": 10}, "pages": {"data_page_size": 64, "write_batch_size": 4},
        "index": {"data_page_size": 64, "write_batch_size": 4, "write_page_index": True, "row_group_size": 50},
    }.items():
        path = maker.path(f"parquet/types-{name}.parquet")
        pq.write_table(data, path, **options)
        maker.case("parquet", f"types-{name}", path, rows_of(pq.read_table(path)))


def make_parquet_files(maker):
    rng = random.Random(8)
    types = {"id": pa.int64(), "label": pa.int32(), "ids": pa.list_(pa.int32())}
    parts = [table(rng, n, types) for n in (5, 0, 12)]
    for i, part in enumerate(parts):
        pq.write_table(part, maker.path(f"parquet/several/part-{i}.parquet"), row_group_size=4)
    expected = rows_of(pa.concat_tables(parts))
    maker.case("parquet", "folder", maker.path("parquet/several"), expected)
    backwards = [maker.path(f"parquet/several/part-{i}.parquet") for i in (2, 1, 0)]
    maker.case("parquet", "files", backwards, rows_of(pa.concat_tables(parts[::-1])))


def make_parquet_large_group(maker):
    """A row group that is decoded in several parts."""
    rng = np.random.default_rng(9)
    data = pa.table({
        "x": pa.array(rng.standard_normal(3_000_000).astype(np.float64)[:400_000]),
        "image": pa.array([rng.bytes(200) for _ in range(400_000)]),
    })
    path = maker.path("parquet/large.parquet")
    pq.write_table(data, path, row_group_size=400_000, compression="none", use_dictionary=False)
    few = [0, 1, 99_999, 150_000, 250_000, 399_999]
    maker.case("parquet", "large", path, rows_of(data.take(few)), only=few, count=400_000)


def make_arrow_files(maker):
    rng = random.Random(10)
    data = table(rng, 60, {**TYPES, **ONLY_ARROW})
    for name, codec in {"plain": None, "lz4": "lz4", "zstd": "zstd"}.items():
        options = pa.ipc.IpcWriteOptions(compression=codec)
        for form, new in {"file": pa.ipc.new_file, "stream": pa.ipc.new_stream}.items():
            path = maker.path(f"arrow/{form}-{name}.arrow")
            with new(path, data.schema, options=options) as writer:
                writer.write_table(data, max_chunksize=17)
            maker.case("arrow", f"{form}-{name}", path, rows_of(data))


def make_arrow_dictionaries(maker):
    """A stream whose dictionary is another one further on, and one that grows."""
    batches = [pa.record_batch({"c": pa.array(words).dictionary_encode()}) for words in (["a", "b", "a"], ["c", "d", None], ["d", "a", "b"])]
    path = maker.path("arrow/dictionaries.arrow")
    with pa.ipc.new_stream(path, batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    maker.case("arrow", "dictionaries", path, [{"c": w} for w in ["a", "b", "a", "c", "d", None, "d", "a", "b"]])
    grown = [pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["a", "b"])),
             pa.DictionaryArray.from_arrays(pa.array([2, 0]), pa.array(["a", "b", "c"]))]
    path = maker.path("arrow/deltas.arrow")
    options = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True)
    with pa.ipc.new_stream(path, pa.schema([("c", grown[0].type)]), options=options) as writer:
        for part in grown:
            writer.write_batch(pa.record_batch({"c": part}))
    maker.case("arrow", "deltas", path, [{"c": w} for w in ["a", "b", "c", "a"]])
