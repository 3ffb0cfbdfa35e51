# Programs that see only what `make install` leaves, after it was moved.
dist_check_SCRIPTS += tests/consumer/install.sh tests/consumer/link.sh tests/consumer/symbols.sh \
	tests/consumer/bare.sh tests/consumer/clash.sh tests/consumer/compilers.sh
EXTRA_DIST += tests/consumer/hello.c tests/consumer/clash.c

clean-local: clean-consumer
clean-consumer:
	rm -rf tests/consumer/stage tests/consumer/moved tests/consumer/link \
		tests/consumer/bare tests/consumer/clash tests/consumer/compilers
.PHONY: clean-consumer
CLEANFILES += tests/consumer/install.log tests/consumer/info.out
