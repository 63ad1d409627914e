"""The end of a session of Spark that tests began."""


def end_of_java():
    """A session that stops leaves its Java process, and a thread of ours that waits for it, to the end of Python."""
    from pyspark import SparkContext

    gateway, SparkContext._gateway, SparkContext._jvm = SparkContext._gateway, None, None
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait()
